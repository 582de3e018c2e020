import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DamagedArchives, isFooled } from '../fuzz/archives.ts';
import { comparePaths, damagedPackage, splitsOf } from '../fuzz/dialects.ts';
import { writeIntactArchive } from '../fuzz/intact-archive.ts';
import { packageCase, randomFrom } from '../fuzz/packages.ts';
import { differenceOf } from '../fuzz/two-paths.ts';
import { ALL_DIALECTS } from '../support/dialects.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 60);
/** Seed of the random damage; a failure prints it, and the same seed repeats the failure. */
const SEED = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31);
const TIMEOUT = (SECONDS + 120) * 1000;

/** Returns a function that is true while there is time for another round. */
function clock(): () => boolean {
  const end = performance.now() + SECONDS * 1000;
  return () => performance.now() < end;
}

test(`packages damaged in all ways, seed ${SEED}, are read alike by all paths`, { timeout: TIMEOUT }, () => {
  const random = randomFrom(SEED);
  for (const goesOn = clock(); goesOn(); ) {
    const one = packageCase(random);
    const difference = differenceOf(one);
    if (difference !== null) expect(difference.fast, one.bytes.toString('latin1')).toBe(difference.slow);
  }
});

test(`packages of all dialects, damaged, seed ${SEED}, are read alike by all paths`, { timeout: TIMEOUT }, () => {
  const random = randomFrom(SEED);
  const goesOn = clock();
  for (let count = 0; goesOn(); count++) {
    const dialect = ALL_DIALECTS[count % ALL_DIALECTS.length];
    if (dialect === undefined) throw new Error('there are no dialects');
    const bytes = damagedPackage(dialect, random);
    const { fast, slow, inRanges } = comparePaths(dialect, bytes, splitsOf(bytes, random));
    expect([fast, inRanges], `${dialect.name}: ${bytes.toString('latin1')}`).toEqual([slow, slow]);
  }
});

test(`of archives in which something was changed, seed ${SEED}, none is verified`, { timeout: TIMEOUT }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'soak-archives-'));
  const archives = new DamagedArchives(await writeIntactArchive(directory), join(directory, 'signing.pem.pub'));
  const random = randomFrom(SEED);
  try {
    for (const goesOn = clock(); goesOn(); ) {
      const damaged = await archives.next(random);
      expect(isFooled(damaged), JSON.stringify(damaged, null, 2)).toBe(false);
    }
  } finally {
    archives.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
