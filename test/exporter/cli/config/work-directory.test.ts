import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkWorkDirectory, withWorkDirectory } from '../../../../src/exporter/cli/config/work-directory.ts';

const parent = mkdtempSync(join(tmpdir(), 'work-'));

function refusal(code: string, more: object = { syscall: 'write' }): Error {
  return Object.assign(new Error(`${code}: refused`), { code, ...more });
}

test('it is there for as long as the work takes, whatever becomes of that', async () => {
  const seen: string[] = [];
  const work = async (path: string) => {
    writeFileSync(join(path, 'x'), '');
    seen.push(path);
    if (seen.length > 1) throw new TypeError('a defect');
    return 5;
  };
  expect(await withWorkDirectory(parent, work)).toBe(5);
  await expect(withWorkDirectory(parent, work)).rejects.toThrow(TypeError);
  expect([seen.length, readdirSync(parent)]).toEqual([2, []]);
});

test('what a process left that is gone is removed', async () => {
  const left = join(parent, `evidence-export-${hostname().replace(/[^A-Za-z0-9]/g, '_')}-${2 ** 22 + 1}-abc`);
  mkdirSync(left);
  await withWorkDirectory(parent, async () => expect(existsSync(left)).toBe(false));
});

test('a folder in which no other can be made is refused before anything begins', () => {
  expect(() => checkWorkDirectory('/proc')).toThrow(
    /the work directory \/proc cannot be used: no folder can be created in it/,
  );
  expect(checkWorkDirectory(parent)).toBeGreaterThan(0);
  expect(readdirSync(parent)).toEqual([]);
});

describe('what the disk refuses after the work has begun ends it as incomplete', () => {
  test.each(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO'])('%s', async (code) => {
    await expect(withWorkDirectory(parent, () => Promise.reject(refusal(code)))).rejects.toMatchObject({
      code: 'work-directory',
      message: expect.stringMatching(new RegExp(`^the work directory ${parent} .*\\(${code}\\)$`)),
      nextStep: expect.stringMatching(/^Archived bundles are kept\..*--work-directory.*run the same command again\.$/),
    });
  });

  test('a file in it that is gone', async () => {
    const work = (path: string) => Promise.reject(refusal('ENOENT', { syscall: 'open', path: join(path, 'x') }));
    await expect(withWorkDirectory(parent, work)).rejects.toMatchObject({ code: 'work-directory' });
  });

  test.each([
    ['a file elsewhere', refusal('EACCES', { syscall: 'open', path: '/etc/shadow' })],
    ['what is read, of whatever file', refusal('EIO', { syscall: 'read' })],
    ['a connection', refusal('ECONNRESET', { syscall: 'read' })],
    ['what no system refused', refusal('ENOSPC', {})],
  ])('but not %s', async (_words, error) => {
    await expect(withWorkDirectory(parent, () => Promise.reject(error))).rejects.toBe(error);
  });
});
