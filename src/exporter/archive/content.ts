import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { EvidenceError } from '../../core/errors.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { ObjectSource } from './archive.ts';

const BLOCK = 256 * 1024;

/**
 * Yields the blocks of a source, each valid only until the next is requested, and throws at the end if the content is
 * not as expected.
 *
 * @throws EvidenceError `not-found` if the file does not exist, `unreadable` if it cannot be read or differs.
 */
export async function* expectedContent(source: ObjectSource, expected: Expected): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocksOf(source)) {
    hash.update(block);
    bytes += block.length;
    // Sends no more bytes than expected to a store.
    if (bytes > expected.bytes) break;
    yield block;
  }
  const sha256 = hash.digest('hex');
  const difference =
    bytes > expected.bytes ? `more than ${expected.bytes} bytes` : differenceTo(expected, { sha256, bytes });
  if (difference === undefined) return;
  const name = 'file' in source ? source.file : 'the content to archive';
  throw new EvidenceError('unreadable', `${name} changed before it was archived: ${difference}`, {
    nextStep: { after: '; nothing was stored' },
  });
}

/** Describes the difference; undefined if there is none. */
export function differenceTo(expected: Expected, actual: Expected): string | undefined {
  if (actual.bytes !== expected.bytes) return `${actual.bytes} bytes instead of ${expected.bytes}`;
  if (actual.sha256 !== expected.sha256) return `SHA-256 ${actual.sha256} instead of ${expected.sha256}`;
  return undefined;
}

/** Returns the error for a `put` whose key holds other content. */
export function conflict(key: string, expected: Expected, actual: Expected): EvidenceError {
  return new EvidenceError(
    'conflict',
    `${key} is in the archive with SHA-256 ${actual.sha256} (${actual.bytes} bytes), but should be stored with ` +
      `${expected.sha256} (${expected.bytes} bytes); the archived object was kept`,
    { nextStep: 'Find out which run wrote it; --revise stores a changed result under another run id.' },
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
      { nextStep: { after: '; nothing was stored' }, cause: error },
    );
  }
}

/**
 * Yields blocks that share one buffer: the buffers that a read stream allocates would use more memory than the rest of
 * an upload.
 */
async function* blocksOfFile(path: string): AsyncGenerator<Uint8Array> {
  await using file = await open(path, 'r');
  const buffer = Buffer.allocUnsafe(BLOCK);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, BLOCK);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
