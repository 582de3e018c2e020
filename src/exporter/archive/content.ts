import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { EvidenceError } from '../../core/errors.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { ObjectSource } from './archive.ts';

const BLOCK = 256 * 1024;

/**
 * The blocks of a source, each valid only until the next is asked for, which end with a failure if they were not what is
 * expected.
 *
 * @throws EvidenceError `not-found` when there is no such file, `unreadable` when it cannot be read or differs.
 */
export async function* expectedContent(source: ObjectSource, expected: Expected): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocksOf(source)) {
    hash.update(block);
    bytes += block.length;
    // Not a byte more than was said goes to a store.
    if (bytes > expected.bytes) break;
    yield block;
  }
  const sha256 = hash.digest('hex');
  const difference =
    bytes > expected.bytes ? `more than ${expected.bytes} bytes` : differenceTo(expected, { sha256, bytes });
  if (difference === undefined) return;
  const name = 'file' in source ? source.file : 'the content to archive';
  throw new EvidenceError('unreadable', `${name} changed before it was archived: ${difference}`, {
    nextStep: 'Run the same command again; nothing was stored.',
  });
}

/** In words, or undefined when both are the same. */
export function differenceTo(expected: Expected, actual: Expected): string | undefined {
  if (actual.bytes !== expected.bytes) return `${actual.bytes} bytes instead of ${expected.bytes}`;
  if (actual.sha256 !== expected.sha256) return `SHA-256 ${actual.sha256} instead of ${expected.sha256}`;
  return undefined;
}

/** The failure of a `put` whose key holds something else. */
export function conflict(key: string, expected: Expected, actual: Expected): EvidenceError {
  return new EvidenceError(
    'conflict',
    `${key} is in the archive with SHA-256 ${actual.sha256} (${actual.bytes} bytes), and was to be stored with ` +
      `${expected.sha256} (${expected.bytes} bytes); the archived object was kept`,
    { nextStep: 'Find out which run wrote it; a changed result is stored under another run id with --revise.' },
  );
}

async function* blocksOf(source: ObjectSource): AsyncGenerator<Uint8Array> {
  if ('bytes' in source) {
    yield source.bytes;
    return;
  }
  try {
    yield* blocksOfFile(source.file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new EvidenceError(
      code === 'ENOENT' ? 'not-found' : 'unreadable',
      `cannot read ${source.file}, which was to be archived: ${message}`,
      { nextStep: 'Run the same command again; nothing was stored.', cause: error },
    );
  }
}

/** All in the same memory: what a stream leaves behind for each block would be the larger part of what an upload takes. */
async function* blocksOfFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  const buffer = Buffer.allocUnsafe(BLOCK);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, BLOCK);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
