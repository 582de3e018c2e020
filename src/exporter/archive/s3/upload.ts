import { Readable } from 'node:stream';
import { CopyObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Expected } from '../../../verifier/archive/archive.ts';
import type { ObjectSource } from '../archive.ts';
import { expectedContent } from '../content.ts';
import type { Connection } from './connection.ts';
import type { PutProtection } from './policy.ts';
import type { Wanted } from './read.ts';

/** Object that is being stored. */
export interface Upload {
  bucket: string;
  /** Full name of the object. */
  name: string;
  source: ObjectSource;
  expected: Expected;
  protection: PutProtection;
  /** True if the store refuses to complete an object whose name exists (`If-None-Match`). */
  createOnly: boolean;
}

export interface Uploaded {
  version_id: string | undefined;
  /** Checksum as the store returns it: base64; for parts, the checksum of their checksums with the number of parts. */
  checksum: string;
}

/** Maximum size of content that is uploaded from memory. */
const BUFFERED_BYTES = 1024 * 1024;

export function toBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/**
 * Returns the metadata stored with an object: the digest of the whole content, which the store does not compute for
 * parts.
 */
export function metadataOf({ sha256 }: Expected): Record<string, string> {
  return { sha256 };
}

/**
 * Stores an object in one request. The last block is sent only if the source matched, so that even a store without
 * checks cannot keep wrong content.
 *
 * @throws SDK errors; EvidenceError `not-found`, `unreadable` for the source.
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

/** Aborts the request if its body fails: the SDK pipes the body without watching for errors. */
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

/** Yields each block after the next one is available, and the last after the source has ended without an error. */
async function* holdBack(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | null = null;
  for await (const block of blocks) {
    if (held !== null) yield held;
    held = Buffer.from(block);
  }
  if (held !== null) yield held;
}

/**
 * Copies a version over all other versions of its name, so that readers who request only the name get its content.
 *
 * @returns false if the store does not allow it, as for objects above 5 GiB, the limit of one S3 copy request.
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
