import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EvidenceError, isSystemError, messageOf } from '../../core/errors.ts';

const NEWLINE = 0x0a;
/** ID1 and ID2 of RFC 1952 section 2.3.1. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

interface NumberedLine {
  /** Line number, from 1. */
  number: number;
  text: string;
}

/**
 * Yields the bytes of a file, decompressed if it starts with the gzip magic number, whatever its name.
 *
 * @throws EvidenceError `not-found` or `unreadable` with the file.
 */
export async function* readInflated(path: string): AsyncGenerator<Buffer> {
  try {
    const bytes = createReadStream(path)[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
    const head = await bytes.next();
    if (head.done === true) return;
    const whole = prepend(head.value, bytes);
    yield* head.value.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC) ? inflate(whole) : whole;
  } catch (cause) {
    if (cause instanceof EvidenceError) throw cause;
    const missing = isSystemError(cause) && cause.code === 'ENOENT';
    throw missing
      ? new EvidenceError('not-found', `the file ${path} does not exist`, { cause })
      : new EvidenceError('unreadable', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Yields a stream including its first chunk, which was already read; a pipe cannot be read twice. */
export async function* prepend(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

function inflate(compressed: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // Errors reach the reader, because `pipeline` destroys its last stream with them.
  return pipeline(Readable.from(compressed), createGunzip(), () => undefined);
}

/**
 * Yields the lines of a byte stream, without their ends; an empty last line is left out. Invalid UTF-8 becomes U+FFFD.
 *
 * @param maxBytes of one line, which bounds memory.
 * @throws EvidenceError `unreadable` with file and line if a line is longer.
 */
export async function* readLines(
  path: string,
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<NumberedLine> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let number = 1;
  const take = (end: Buffer): NumberedLine => {
    const text = Buffer.concat([...pending, end]).toString('utf8');
    pending = [];
    pendingBytes = 0;
    return { number: number++, text: text.endsWith('\r') ? text.slice(0, -1) : text };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield take(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > maxBytes)
      throw new EvidenceError('unreadable', `line ${number} of ${path} is longer than ${maxBytes} bytes`);
  }
  if (pendingBytes > 0) yield take(Buffer.alloc(0));
}
