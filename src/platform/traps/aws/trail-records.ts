import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { ElementScanner } from '../../../core/json/elements.ts';
import { HttpProblem } from '../../http/problem.ts';

/** Event, as the bytes that were sent. */
export type TrailRecord = Buffer;

/** Log files in a bucket, as reported by a notification. */
export interface NamedLogFiles {
  bucket: string;
  keys: readonly string[];
}

export interface TrailLimits {
  /** Maximum number of bytes as sent. */
  sent: number;
  /** Maximum number of bytes after decompression. */
  unpacked: number;
}

export const TRAIL_LIMITS: TrailLimits = { sent: 64 * 2 ** 20, unpacked: 512 * 2 ** 20 };

/** Maximum size of an event. CloudTrail limits an event to 256 KiB, or to 1 MiB if configured. */
const MAX_RECORD_BYTES = 4 * 2 ** 20;
/** Maximum size of the text around the records of a file, or of a single event. */
const MAX_REST_BYTES = MAX_RECORD_BYTES;
/** Start of a log file. */
const LOG_FILE = /^\s*\{\s*"Records"\s*:\s*\[/;
const HEAD_BYTES = 512;

/**
 * Reads CloudTrail events, gzip or not, while their bytes arrive: log files (`{"Records": […]}`), and single events as
 * EventBridge forwards them (`{"detail": {…}}`). Yields the events in groups, as they arrive in the body. Yields the
 * files of a CloudTrail notification (`{"s3Bucket": …, "s3ObjectKey": […]}`). Each of these may be wrapped in an SNS
 * message.
 * @throws HttpProblem 413 `too_large`, 400 `invalid_json`.
 */
export async function* readTrail(
  body: AsyncIterable<Uint8Array>,
  limits: TrailLimits = TRAIL_LIMITS,
): AsyncGenerator<TrailRecord[] | NamedLogFiles> {
  const plain = await unpacked(limited(body, limits.sent), limits);
  const [head, whole] = await headOf(plain);
  if (head.length === 0) throw new HttpProblem(400, 'bad_request', 'the body is empty');
  try {
    if (LOG_FILE.test(head.toString('utf8'))) yield* readLogFile(whole);
    else yield readMessage(await readJson(whole));
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

async function readJson(chunks: AsyncIterable<Buffer>): Promise<unknown> {
  const kept: Buffer[] = [];
  for await (const chunk of limited(chunks, MAX_REST_BYTES)) kept.push(Buffer.from(chunk));
  return parsed(Buffer.concat(kept).toString('utf8'), 'body');
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = `the ${what} is neither a log file of CloudTrail nor an event: ${messageOf(cause)}`;
    throw new EvidenceError('unreadable', reason);
  }
}

const object = z.record(z.string(), z.json());
const eventSchema = z.object({ detail: object });
const logFileSchema = z.object({ Records: z.array(object) });
/** https://docs.aws.amazon.com/awscloudtrail/latest/userguide/configure-sns-notifications-for-cloudtrail.html */
const namedFilesSchema = z.object({ s3Bucket: z.string().min(1), s3ObjectKey: z.array(z.string().min(1)).max(1000) });
/** https://docs.aws.amazon.com/sns/latest/dg/http-notification-json.html */
const notificationSchema = z.object({ Type: z.literal('Notification'), Message: z.string() });
const confirmationSchema = z.object({ Type: z.literal('SubscriptionConfirmation') });

function readMessage(message: unknown): TrailRecord[] | NamedLogFiles {
  const notification = notificationSchema.safeParse(message).data;
  if (notification !== undefined) return readContent(parsed(notification.Message, 'message'));
  if (confirmationSchema.safeParse(message).success) {
    const reason = 'the body confirms a subscription of SNS, and has no event: open its SubscribeURL yourself';
    throw new EvidenceError('unreadable', reason);
  }
  return readContent(message);
}

function readContent(content: unknown): TrailRecord[] | NamedLogFiles {
  const records = logFileSchema.safeParse(content).data?.Records;
  const event = eventSchema.safeParse(content).data?.detail;
  const files = namedFilesSchema.safeParse(content).data;
  if (files !== undefined) return { bucket: files.s3Bucket, keys: files.s3ObjectKey };
  if (records === undefined && event === undefined)
    throw new EvidenceError('unreadable', 'the body has neither "Records", nor "detail", nor "s3ObjectKey"');
  return (records ?? [event]).map((record) => Buffer.from(JSON.stringify(record)));
}

/** Decompresses a body that starts with the gzip magic number, whatever its content type. */
async function unpacked(body: AsyncIterable<Buffer>, { unpacked: most }: TrailLimits): Promise<AsyncIterable<Buffer>> {
  const [head, whole] = await headOf(body);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return whole;
  const gunzip = createGunzip();
  // Errors reach the reader of the stream.
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

/** Returns the first bytes, and an iterable of all bytes. */
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
