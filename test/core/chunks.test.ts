import { expect, test } from 'vitest';
import { inBlocks, toBlocks, toWrites } from '../../src/core/chunks.ts';

const KIB = 1024;

test.each([0, 1, 48 * KIB - 1, 48 * KIB, 48 * KIB + 1, 256 * KIB])(
  'a block of %i bytes is written in pieces',
  (length) => {
    const block = Buffer.from(Uint8Array.from({ length }, (_, at) => at % 251));
    const pieces = [...toWrites(block)];
    expect(Buffer.concat(pieces).equals(block)).toBe(true);
    expect(pieces.every((piece) => piece.length > 0 && piece.length < 64 * KIB)).toBe(true);
  },
);

test.each([4, 5, 7, 1000])('texts and bytes become blocks of at most %i bytes', (bytes) => {
  const pieces = ['ab', '', Buffer.from('cdefghij'), 'ü€𝕊', new Uint8Array(), 'k'.repeat(20), '𝕊'];
  const blocks = Array.from(toBlocks(pieces, bytes), (block) => Buffer.from(block));
  expect(Buffer.concat(blocks).toString()).toBe(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString());
  expect(blocks.every(({ length }) => length > 0 && length <= bytes)).toBe(true);
});

test('pieces become blocks of one length, also before a failure', async () => {
  async function* pieces() {
    for (const text of ['ab', 'cdefg', '', 'h']) yield Buffer.from(text);
    throw new Error('broken');
  }
  const blocks: string[] = [];
  const read = async () => {
    for await (const block of inBlocks(pieces(), 3)) blocks.push(Buffer.from(block).toString());
  };
  await expect(read()).rejects.toThrow('broken');
  expect(blocks).toEqual(['abc', 'def', 'gh']);
});
