import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBundle } from '../../../src/verifier/bundle/read.ts';
import { chainOf, SEAL_KEY } from '../../support/chain.ts';
import { startFalseService } from '../../support/false-service.ts';

test('a bundle names the keys that its seals are made with, and none of the others', async () => {
  const service = await startFalseService();
  const at = (name: string) => join(service.directory, name);
  service.streams.set('sealed', { entries: chainOf(3, { stream_id: 'sealed' }) });
  service.streams.set('empty', { entries: [] });
  for (const name of ['k0', 'k1', 'k2']) writeFileSync(at(name), SEAL_KEY);
  writeFileSync(at('evidence.yaml'), JSON.stringify({ verify: { seal_keys: { k2: 'k2', k1: 'k1', k0: 'k0' } } }));
  try {
    const { document } = await service.export({ request: 'A', 'all-time': true });
    const named = await Promise.all(
      document.streams.map(async ({ stream_id, bundle }: { stream_id: string; bundle: { key: string } }) => {
        const zip = await openBundle(at(`evidence-archive/${bundle.key}`));
        const text = Buffer.from(await zip.readFile('data/verification.json', 2 ** 20)).toString();
        await zip.close();
        return [stream_id, JSON.parse(text).seal_key_ids];
      }),
    );
    expect(Object.fromEntries(named)).toEqual({ sealed: ['k1'], empty: [] });
    expect((await service.verify()).document.runs[0].streams.map(({ findings }: { findings: [] }) => findings)).toEqual(
      [[], []],
    );
  } finally {
    await service.close();
  }
});
