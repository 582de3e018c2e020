import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someRows } from '../support/some-rows.ts';
import { DamagedArchives, isFooled } from './archives.ts';
import { writeIntactArchive } from './intact-archive.ts';
import { randomFrom } from './packages.ts';

const [CASES = 0] = someRows([12, 30], () => 'archives').slice(-1);

let directory: string;
let archive: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fuzz-archives-'));
  archive = await writeIntactArchive(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test(`of ${CASES} archives in which something was changed none is verified`, async () => {
  const random = randomFrom(20_261_122);
  const archives = new DamagedArchives(archive, join(directory, 'signing.pem.pub'));
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
});
