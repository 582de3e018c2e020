import { describe, expect, test } from 'vitest';
import { PartMemory, partSize, toParts } from '../../../src/exporter/archive/s3/parts.ts';

const MEBIBYTE = 2 ** 20;

test.each([
  [0, 8 * MEBIBYTE],
  [80_000 * MEBIBYTE, 8 * MEBIBYTE],
  [80_000 * MEBIBYTE + 1, 9 * MEBIBYTE],
  [5 * 2 ** 40, 525 * MEBIBYTE],
])('an object of %i bytes has parts of %i, at most 10,000 of them', (bytes, expected) => {
  const size = partSize(bytes, 8 * MEBIBYTE);
  expect(size).toBe(expected);
  expect(Math.ceil(bytes / size)).toBeLessThanOrEqual(10_000);
});

async function* inBlocks(text: string, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length));
}

describe('content in parts', () => {
  const text = 'abcdefghijkl';
  test.each([
    [3, 5, ['abcde', 'fghij', 'kl']],
    [5, 5, ['abcde', 'fghij', 'kl']],
    [12, 4, ['abcd', 'efgh', 'ijkl']],
    [1, 6, ['abcdef', 'ghijkl']],
    [7, 12, ['abcdefghijkl']],
    [7, 20, ['abcdefghijkl']],
  ])('blocks of %i as parts of %i', async (block, size, expected) => {
    const memory = new PartMemory(2 * size);
    const parts: string[] = [];
    for await (const { number, content, memory: taken } of toParts(inBlocks(text, block), size, memory)) {
      expect(number).toBe(parts.length + 1);
      parts.push(content.toString());
      memory.give(taken);
    }
    expect(parts).toEqual(expected);
  });
});

describe('the memory of parts', () => {
  test('is never more than was allowed, but for a part that is larger by itself', async () => {
    const memory = new PartMemory(100);
    const held = [await memory.take(50), await memory.take(50)];
    let third: Buffer | null = null;
    const waiting = memory.take(150).then((buffer) => {
      third = buffer;
    });
    memory.give(held.pop() as Buffer);
    await Promise.resolve();
    expect(third).toBeNull();
    memory.give(held.pop() as Buffer);
    await waiting;
    expect(third).toHaveLength(150);
  });

  test('is given back by a source that fails', async () => {
    const memory = new PartMemory(10);
    const failing = (async function* () {
      yield Buffer.from('abc');
      throw new Error('gone');
    })();
    await expect(toParts(failing, 10, memory).next()).rejects.toThrow('gone');
    expect(await memory.take(10)).toHaveLength(10);
  });
});
