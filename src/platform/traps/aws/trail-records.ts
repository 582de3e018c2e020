import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { ElementScanner } from '../../../core/json/elements.ts';
import { HttpProblem } from '../../http/problem.ts';

/** One event, as the bytes that were sent. */
export type TrailRecord = Buffer;

export interface TrailLimits {
  /** Bytes as they are sent. */
  sent: number;
  /** Bytes once they are unpacked. */
  unpacked: number;
}

export const TRAIL_LIMITS: TrailLimits = { sent: 64 * 2 ** 20, unpacked: 512 * 2 ** 20 };

/** CloudTrail cuts an event at 256 KiB, or at 1 MiB where it is told to. */
const MAX_RECORD_BYTES = 4 * 2 ** 20;
/** What stands around the records of a file, or an event that comes alone. */
const MAX_REST_BYTES = MAX_RECORD_BYTES;
/** How a log file begins. */
const LOG_FILE = /^\s*\{\s*"Records"\s*:\s*\[/;
const HEAD_BYTES = 512;

/**
 * Reads the events of CloudTrail, gzip or not, while their bytes arrive: log files (`{"Records": […]}`), and single events as
 * EventBridge passes them on (`{"detail": {…}}`). Yields them in groups, as the pieces of the body have them.
 * @throws HttpProblem 413 `too_large`, 400 `invalid_json`.
 */
export async function* readTrail(
  body: AsyncIterable<Uint8Array>,
  limits: TrailLimits = TRAIL_LIMITS,
): AsyncGenerator<TrailRecord[]> {
  const plain = await unpacked(limited(body, limits.sent), limits);
  const [head, whole] = await headOf(plain);
  if (head.length === 0) throw new HttpProblem(400, 'bad_request', 'the body is empty');
  try {
    if (LOG_FILE.test(head.toString('utf8'))) yield* readLogFile(whole);
    else yield [await readAlone(whole)];
  } catch (error) {
    throw error instanceof EvidenceError ? new HttpProblem(400, 'invalid_json', error.message) : error;
  }
}

async function* readLogFile(chunks: AsyncIterable<Buffer>): AsyncGenerator<TrailRecord[]> {
  let group: TrailRecord[] = [];
  const scanner = new ElementScanner(
    ['Records'],
    { onElement: (bytes) => group.push(Buffer.from(bytes)) },
    { maxElementBytes: MAX_RECORD_BYTES, maxRestBytes: MAX_REST_BYTES },
  );
  for await (const chunk of chunks) {
    scanner.push(chunk);
    if (group.length > 0) yield group;
    group = [];
  }
  scanner.finish();
}

async function readAlone(chunks: AsyncIterable<Buffer>): Promise<TrailRecord> {
  const kept: Buffer[] = [];
  for await (const chunk of limited(chunks, MAX_REST_BYTES)) kept.push(Buffer.from(chunk));
  let event: unknown;
  try {
    event = JSON.parse(Buffer.concat(kept).toString('utf8'));
  } catch (cause) {
    throw new EvidenceError(
      'unreadable',
      `the body is neither a log file of CloudTrail nor an event: ${messageOf(cause)}`,
    );
  }
  const detail = (event as { detail?: unknown } | null)?.detail;
  if (typeof detail !== 'object' || detail === null)
    throw new EvidenceError('unreadable', 'the body has neither "Records" at its beginning nor "detail"');
  return Buffer.from(JSON.stringify(detail));
}

/** Whatever the sender calls it, what begins as gzip is unpacked. */
async function unpacked(body: AsyncIterable<Buffer>, { unpacked: most }: TrailLimits): Promise<AsyncIterable<Buffer>> {
  const [head, whole] = await headOf(body);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return whole;
  const gunzip = createGunzip();
  // Its errors are those of whoever reads from it.
  pipeline(Readable.from(whole), gunzip, () => {});
  return limited(withProblem(gunzip), most);
}

async function* withProblem(gunzip: Transform): AsyncGenerator<Buffer> {
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    throw error instanceof HttpProblem
      ? error
      : new HttpProblem(400, 'invalid_json', `the gzip of the body is damaged: ${messageOf(error)}`);
  }
}

async function* limited(body: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) throw new HttpProblem(413, 'too_large', `the events are larger than ${most} bytes`);
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }
}

/** The first bytes, and all of it. */
async function headOf(body: AsyncIterable<Buffer>): Promise<[head: Buffer, whole: AsyncIterable<Buffer>]> {
  const iterator = body[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return [head.subarray(0, HEAD_BYTES), prepended(head, iterator)];
}

async function* prepended(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
