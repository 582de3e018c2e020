import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { garbleSummary, lieAbout } from '../support/lying-service.ts';
import { postEntries, servePlatform, someEntries } from '../support/platform.ts';
import { DamagedArchives, isFooled } from './archives.ts';
import { randomFrom } from './packages.ts';

const CASES = 150;

let directory: string;

/** Two runs, signed, the first after a try that stayed incomplete; and what was shared of it. */
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fuzz-archives-'));
  const platform = await servePlatform();
  let lie = garbleSummary;
  const service = await lieAbout(platform.auditUrl, (path, answer) => lie(path, answer));
  const call = async (code: number, ...args: string[]) => {
    const env = { ...platform.env, EVIDENCE_AUDIT_URL: service.auditUrl };
    const ended = await evidence(args, { cwd: directory, env });
    if (ended.code !== code) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  };
  try {
    await call(0, 'keygen', '--out', 'signing.pem');
    await postEntries(platform, [...someEntries('payments', 20), ...someEntries('логи', 3)]);
    const signed = ['--config', 'signed.yaml'];
    writeFileSync(join(directory, 'signed.yaml'), 'sign: { key_file: signing.pem }\n');
    const first = ['export', '--request', 'R1', '--all-time', '--require', 'agreement', ...signed];
    await call(3, ...first);
    lie = () => undefined;
    await call(0, ...first);
    await call(0, 'export', '--request', 'R2', '--all-time', ...signed);
    await call(0, 'share', 'R1', '--out', 'shared', ...signed);
  } finally {
    service.close();
    await platform.stop();
  }
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test(`of ${CASES} archives in which something was changed none is verified`, async () => {
  const random = randomFrom(20_261_122);
  const archives = new DamagedArchives(join(directory, 'evidence-archive'), join(directory, 'signing.pem.pub'));
  let differing = 0;
  try {
    for (let count = 0; count < CASES; count++) {
      const damaged = await archives.next(random);
      expect(isFooled(damaged), JSON.stringify(damaged, null, 2)).toBe(false);
      if (damaged.differing.length > 0) differing++;
    }
  } finally {
    archives.close();
  }
  expect(differing).toBeGreaterThan(CASES * 0.8);
}, 240_000);
