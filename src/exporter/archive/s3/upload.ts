import { Readable } from 'node:stream';
import { CopyObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Expected } from '../../../verifier/archive/archive.ts';
import type { ObjectSource } from '../archive.ts';
import { expectedContent } from '../content.ts';
import type { Connection } from './connection.ts';
import type { PutProtection } from './policy.ts';
import type { Wanted } from './read.ts';

/** An object on its way into the store. */
export interface Upload {
  bucket: string;
  /** Its full name. */
  name: string;
  source: ObjectSource;
  expected: Expected;
  protection: PutProtection;
  /** True if the store holds a name free until the object is complete (`If-None-Match`). */
  createOnly: boolean;
}

export interface Uploaded {
  version_id: string | undefined;
  /** As the store shows it when it is asked: in base64, of parts the checksum of checksums with their number. */
  checksum: string;
}

/** Content of this size goes up from memory. */
const BUFFERED_BYTES = 1024 * 1024;

export function toBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/** Returns what the store keeps beside the content: the digest of all of it, which of parts it does not know by itself. */
export function metadataOf({ sha256 }: Expected): Record<string, string> {
  return { sha256 };
}

/**
 * Stores an object by one request. Its end is sent only when the source was as expected, so a store that checks
 * nothing cannot keep what is not.
 *
 * @throws as the SDK does; EvidenceError `not-found`, `unreadable` for the source.
 */
export async function putWhole(connection: Connection, upload: Upload, signal: AbortSignal): Promise<Uploaded> {
  const { bucket, name, source, expected, protection, createOnly } = upload;
  const checksum = toBase64(expected.sha256);
  const content = expectedContent(source, expected);
  const body = expected.bytes <= BUFFERED_BYTES ? await collect(content) : Readable.from(holdBack(content));
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: name,
    Body: body,
    ContentLength: expected.bytes,
    ChecksumSHA256: checksum,
    Metadata: metadataOf(expected),
    ...protection,
    ...(createOnly ? { IfNoneMatch: '*' } : {}),
  });
  const { VersionId } = await untilBodyFails(body, (failed) =>
    connection.client.send(command, { abortSignal: AbortSignal.any([signal, failed]) }),
  );
  return { version_id: VersionId, checksum };
}

/** The SDK pipes a body into its request and does not look whether it breaks. */
async function untilBodyFails<T>(body: Readable | Buffer, send: (failed: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  if (Buffer.isBuffer(body)) return send(controller.signal);
  let failure: unknown;
  body.on('error', (error) => {
    failure ??= error;
    controller.abort();
  });
  try {
    return await send(controller.signal);
  } catch (error) {
    throw failure ?? error;
  } finally {
    body.destroy();
  }
}

async function collect(blocks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const block of blocks) all.push(Buffer.from(block));
  return Buffer.concat(all);
}

/** The same blocks, each when the next one is known to be there, the last when the source ended well. */
async function* holdBack(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | null = null;
  for await (const block of blocks) {
    if (held !== null) yield held;
    held = Buffer.from(block);
  }
  if (held !== null) yield held;
}

/**
 * Puts a copy of a version over all others of its name, so that whoever asks for the name alone gets its content.
 *
 * @returns false where the store does not let us, as for more than the 5 GiB that S3 copies in one request.
 * @throws EvidenceError see `Connection.attempt`.
 */
export async function putOnTop(
  connection: Connection,
  { bucket, name, version_id = 'null' }: Wanted,
  protection: PutProtection,
): Promise<boolean> {
  const source = `${bucket}/${name.split('/').map(encodeURIComponent).join('/')}?versionId=${encodeURIComponent(version_id)}`;
  const command = new CopyObjectCommand({ Bucket: bucket, Key: name, CopySource: source, ...protection });
  const doing = `copy a version of s3://${bucket}/${name}`;
  return (await connection.sendOr(doing, command, [400, 403, 405, 501], () => null)) !== null;
}
