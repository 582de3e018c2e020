import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { someRows } from '../../support/some-rows.ts';
import { outcomeOf, writeSample } from './sample.ts';

let work: string;
let target: string;
let original: Buffer;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'bundle-tamper-'));
  target = join(work, 'bundle.zip');
  await writeSample(target);
  original = await readFile(target);
});

afterAll(async () => {
  await rm(work, { recursive: true });
});

async function outcomeWith(change: (bytes: Buffer) => Buffer) {
  await writeFile(target, change(Buffer.from(original)));
  return outcomeOf(target);
}

/** Fields of a directory entry that describe the machine and permissions, not content (APPNOTE 4.3.12). */
const VOID_DIRECTORY_FIELDS = [
  [4, 6, 'version made by'],
  [34, 36, 'disk number start'],
  [36, 38, 'internal attributes'],
  [38, 42, 'external attributes'],
] as const;

/** Selects a bit that varies by position, so that every kind of field has each bit flipped somewhere. */
const bitAt = (position: number) => 1 << ((position * 5) % 8);

describe('one flipped bit', () => {
  it('is found wherever it is, but where it means nothing', async () => {
    const unseen: number[] = [];
    // One position of three: every field has at least two bytes, and appears in the headers of several files.
    const positions = someRows([...original.keys()], (position) => Math.floor(position / 3));
    for (const position of positions) {
      const outcome = await outcomeWith((bytes) => {
        bytes[position] = (bytes[position] ?? 0) ^ bitAt(position);
        return bytes;
      });
      if (outcome.length === 0) unseen.push(position);
    }
    expect(unseen.filter((position) => !isVoid(position))).toEqual([]);
    expect(unseen.length).toBeLessThan(positions.length / 20);
  });
});

describe('a cut', () => {
  it('at any length is unreadable', async () => {
    for (const length of someRows([...original.keys()], (one) => Math.floor(one / 7))) {
      const outcome = await outcomeWith((bytes) => bytes.subarray(0, length));
      expect(outcome, `${length} bytes`).toEqual(['unreadable']);
    }
  });
});

describe('added bytes', () => {
  it.each([
    ['at the end', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')]), 'unreadable'],
    ['at the start', (bytes: Buffer) => Buffer.concat([Buffer.from('x'), bytes]), 'unreadable'],
    ['as a second zip', (bytes: Buffer) => Buffer.concat([bytes, bytes]), 'bundle/hidden-bytes'],
    ['at the start, offsets set right', (bytes: Buffer) => moved(bytes, 0), 'bundle/hidden-bytes'],
    ['before the directory, offsets set right', (bytes: Buffer) => moved(bytes, directoryOf(bytes)), 'bundle/'],
    ['after the directory', (bytes: Buffer) => inserted(bytes, bytes.length - 22), 'bundle/hidden-bytes'],
  ])('%s', async (_, change, code) => {
    const outcome = await outcomeWith(change);
    expect(outcome.join()).toContain(code);
  });
});

/** True if a flip changes no file's bytes, name, size or place, so that there is nothing to find. */
function isVoid(position: number): boolean {
  const directory = directoryOf(original);
  for (let at = directory; at < original.length - 22; ) {
    const length = 46 + original.readUInt16LE(at + 28) + original.readUInt16LE(at + 30);
    if (position >= at && position < at + length) {
      return VOID_DIRECTORY_FIELDS.some(([from, to]) => position >= at + from && position < at + to);
    }
    if (isSameContent(at, position)) return true;
    at += length;
  }
  return false;
}

/**
 * True if the content is unchanged: deflate has several encodings, because a copy may come from further back, and the
 * last byte has spare bits.
 */
function isSameContent(header: number, position: number): boolean {
  const local = original.readUInt32LE(header + 42);
  const start = local + 30 + original.readUInt16LE(local + 26) + original.readUInt16LE(local + 28);
  const data = Buffer.from(original.subarray(start, start + original.readUInt32LE(header + 20)));
  if (position < start || position >= start + data.length || original.readUInt16LE(header + 10) !== 8) return false;
  const plain = inflateRawSync(data);
  data[position - start] = (data[position - start] ?? 0) ^ bitAt(position);
  return inflateRawSync(data).equals(plain);
}

function directoryOf(bytes: Buffer): number {
  return bytes.readUInt32LE(bytes.length - 22 + 16);
}

function inserted(bytes: Buffer, at: number): Buffer {
  return Buffer.concat([bytes.subarray(0, at), Buffer.from('hidden'), bytes.subarray(at)]);
}

/** Inserts bytes at `at` and adjusts every later offset, so that all programs still find every file. */
function moved(bytes: Buffer, at: number): Buffer {
  const grown = inserted(bytes, at);
  const directory = directoryOf(bytes) + 6;
  grown.writeUInt32LE(directory, grown.length - 22 + 16);
  for (let header = directory; header < grown.length - 22; ) {
    const offset = grown.readUInt32LE(header + 42);
    if (offset >= at) grown.writeUInt32LE(offset + 6, header + 42);
    header += 46 + grown.readUInt16LE(header + 28) + grown.readUInt16LE(header + 30);
  }
  return grown;
}
