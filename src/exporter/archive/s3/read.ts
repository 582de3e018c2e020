import { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { EvidenceError } from '../../../core/errors.ts';
import type { Connection } from './connection.ts';
import { isRefusal, isTransient } from './failure.ts';

/** A version of an object; of a store without versions, the object. */
export interface Wanted {
  bucket: string;
  /** Its full name. */
  name: string;
  version_id?: string | undefined;
}

/** A connection that broke after less than this was no progress. */
const PROGRESS_BYTES = 64 * 1024;

/**
 * The content of one version, as a stream that goes on where a connection broke. Null when it is not there.
 *
 * @throws EvidenceError at once or by the stream, see `Connection.attempt`.
 */
export async function openObject(connection: Connection, wanted: Wanted): Promise<Readable | null> {
  const first = await get(connection, wanted, {});
  return first === null ? null : Readable.from(blocks(connection, wanted, first), { objectMode: false });
}

async function* blocks(
  connection: Connection,
  wanted: Wanted,
  first: GetObjectCommandOutput,
): AsyncGenerator<Uint8Array> {
  const { ContentLength: total, ETag } = first;
  let response: GetObjectCommandOutput | null = first;
  let at = 0;
  for (let cuts = 1; ; cuts += 1) {
    const from = at;
    try {
      for await (const block of response.Body as Readable as AsyncIterable<Uint8Array>) {
        at += block.length;
        yield block;
      }
      if (total === undefined || at === total) return;
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    if (at - from >= PROGRESS_BYTES) cuts = 0;
    if (cuts >= connection.limits.attempts) throw broken(wanted, `the connection broke ${cuts} times`);
    response = await get(connection, wanted, {
      ...(at === 0 ? {} : { Range: `bytes=${at}-` }),
      ...(ETag === undefined ? {} : { IfMatch: ETag }),
    });
    if (response === null) throw broken(wanted, 'it vanished while it was read');
    if (at > 0 && response.ContentRange?.startsWith(`bytes ${at}-`) !== true)
      throw broken(wanted, 'the store does not go on where the connection broke');
  }
}

async function get(
  connection: Connection,
  { bucket, name, version_id }: Wanted,
  more: { Range?: string; IfMatch?: string },
): Promise<GetObjectCommandOutput | null> {
  const version = version_id === undefined ? {} : { VersionId: version_id };
  const command = new GetObjectCommand({ Bucket: bucket, Key: name, ...version, ...more });
  const leave = ['NoSuchKey', 'NoSuchVersion', 'NotFound'];
  try {
    return await connection.attempt(
      `read s3://${bucket}/${name}`,
      (abortSignal) => connection.client.send(command, { abortSignal }),
      { leave },
    );
  } catch (error) {
    if (isRefusal(error, ...leave)) return null;
    throw error;
  }
}

function broken({ bucket, name }: Wanted, why: string): EvidenceError {
  return new EvidenceError('archive', `could not read s3://${bucket}/${name} to its end: ${why}`, {
    nextStep: 'Run the same command again.',
  });
}
