import { expect, test } from 'vitest';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { readFinalizedRun } from '../../../src/verifier/records/stored-run.ts';

test('a run without its record is not finalized', async () => {
  expect(await readFinalizedRun(openMemoryArchive(), 'R')).toBeNull();
});
