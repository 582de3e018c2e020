import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import { withFile } from '../../../src/exporter/export/pieces.ts';

const workDirectory = mkdtempSync(join(tmpdir(), 'pieces-test-'));

test('pieces of text and bytes are one file, measured, for as long as it is used', async () => {
  const long = 'é'.repeat(300_000);
  const whole = `a支${long}🔐`;
  const pieces = ['a', Buffer.from('支'), '', long, '🔐'];
  const used = await withFile({ workDirectory }, 'x', pieces, async (file, content) => {
    expect(readFileSync(file, 'utf8')).toBe(whole);
    return content;
  });
  expect(used).toEqual({ bytes: Buffer.byteLength(whole), sha256: sha256(whole) });
  expect(readdirSync(workDirectory)).toEqual([]);
});

test('a failure to make a piece, or to use the file, is told as it is, and leaves nothing', async () => {
  const broken = function* () {
    yield 'a';
    throw new TypeError('a defect');
  };
  await expect(withFile({ workDirectory }, 'x', broken(), async () => 0)).rejects.toThrow(TypeError);
  const refuse = () => Promise.reject(new RangeError('refused'));
  await expect(withFile({ workDirectory }, 'x', ['a'], refuse)).rejects.toThrow(RangeError);
  expect(readdirSync(workDirectory)).toEqual([]);
});

test('what the disk refuses is left to whoever made the work directory', async () => {
  const nowhere = join(workDirectory, 'gone');
  await expect(withFile({ workDirectory: nowhere }, 'x', ['a'], async () => 0)).rejects.toMatchObject({
    code: 'ENOENT',
    path: join(nowhere, 'x'),
  });
});
