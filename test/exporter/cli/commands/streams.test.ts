import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOf } from '../../../support/chain.ts';
import { evidence } from '../../../support/evidence.ts';
import { type FalseService, startFalseService } from '../../../support/false-service.ts';

let service: FalseService;
const streams = async (...words: string[]) => {
  const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_a_false_service' };
  return evidence(['streams', ...words], { cwd: service.directory, env });
};

beforeAll(async () => {
  service = await startFalseService();
  for (const streamId of ['same', 'shorter', 'other', 'gone', 'longer'])
    service.streams.set(streamId, { entries: chainOf(3, { stream_id: streamId }) });
  expect((await service.export({ request: 'first' })).code).toBe(0);
  const CHECKED = '2026-11-01T00:00:00.000Z';
  service.streams.set('shorter', { entries: chainOf(2, { stream_id: 'shorter' }), stated: { verified: false } });
  service.streams.set('other', {
    entries: chainOf(3, { stream_id: 'other', actor: 'somebody else' }),
    stated: { verified: false, last_checked_at: CHECKED },
  });
  service.streams.set('longer', { entries: chainOf(5, { stream_id: 'longer' }) });
  service.streams.delete('gone');
});
afterAll(async () => {
  await service.close();
  rmSync(service.directory, { recursive: true, force: true });
});

test('what cannot be the stream that was exported is remarked on, and who is no longer listed', async () => {
  const { code, stdout } = await streams();
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => line.startsWith('remark'))).toEqual([
    'remark shorter is listed only up to entry 2; run first exported it up to entry 3',
    'remark other is listed with a different entry 3; run first exported it up to entry 3',
    'remark gone is no longer listed; run first exported it up to entry 3',
  ]);
});

test('a check that failed is another thing than none', async () => {
  const { stdout } = await streams();
  const said = (streamId: string) => stdout.split('\n').find((line) => line.startsWith(streamId));
  expect(said('same')).toMatch(/ verified /);
  expect(said('shorter')).toMatch(/ never checked /);
  expect(said('other')).toMatch(/ checked, not verified /);
});

test('both stand in the document', async () => {
  const { streams: listed, not_listed } = JSON.parse((await streams('--json')).stdout);
  expect(listed.filter(({ remark }: { remark: string | null }) => remark !== null)).toHaveLength(2);
  expect(not_listed).toMatchObject([{ stream_id: 'gone', last_exported: { run_id: 'first', sequence: 3 } }]);
});
