import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MIB, passToSlowReaders } from './slow-readers.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'memory-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a package of two hundred thousand entries passes through in bounded memory, however slow its readers are', async () => {
  const { bytes, more } = await passToSlowReaders(join(folder, 'data'), 200_000);
  expect(bytes).toBeGreaterThan(90 * MIB);
  // Memory of a thread and of data in transit: less than two of the three packages.
  expect(more).toBeLessThan(160 * MIB);
});
