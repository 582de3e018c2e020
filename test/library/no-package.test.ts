import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyPackage } from '../../src/index.ts';
import { evidence } from '../support/evidence.ts';

/** Files that are no packages: the library and the program reject them instead of reporting incomplete evidence. */

const folder = mkdtempSync(join(tmpdir(), 'no-package-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(['', ' ', 'hello', 'null', '12', '[]', '{}', '{"a":{"b":1}}'])('%j', (text) => {
  const file = join(folder, 'package.json');
  test('is refused by the library, as bytes and as a file', async () => {
    writeFileSync(file, text);
    for (const source of [Buffer.from(text), file])
      await expect(verifyPackage(source, { now: new Date() })).rejects.toMatchObject({ code: 'unreadable' });
  });
  test('is refused by the program', async () => {
    writeFileSync(file, text);
    expect((await evidence(['verify', file], { cwd: folder })).code).toBe(2);
  });
});

test('a package that is cut off is incomplete in both', async () => {
  const file = join(folder, 'cut.json');
  writeFileSync(file, '{"format":"evidence-package/1","entries":[');
  expect((await verifyPackage(file, { now: new Date() })).exit_code).toBe(3);
  expect((await evidence(['verify', file], { cwd: folder })).code).toBe(3);
});
