import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MIB, passToSlowReaders } from '../platform/audit/slow-readers.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'package-soak-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a package of two million entries takes a quarter of its size, with three readers', async () => {
  const { bytes, more } = await passToSlowReaders(join(folder, 'data'), 2_000_000);
  process.stdout.write(`${Math.round(bytes / MIB)} MiB each, ${Math.round(more / MIB)} MiB more\n`);
  expect(bytes).toBeGreaterThan(800 * MIB);
  expect(more).toBeLessThan(240 * MIB);
}, 900_000);
