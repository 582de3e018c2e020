import { Readable } from 'node:stream';
import { GetObjectCommand, type GetObjectCommandInput, type GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { EvidenceError } from '../../../core/errors.ts';
import type { LinkSeries, Links } from '../archive.ts';
import type { Connection } from './connection.ts';
import { isTransient } from './failure.ts';

/** Version of an object; in a store without versions, the object. */
export interface Wanted {
  bucket: string;
  /** Full name of the object. */
  name: string;
  version_id?: string | undefined;
}

/** Minimum number of bytes that counts as progress before a connection breaks. */
const PROGRESS_BYTES = 64 * 1024;

/**
 * Opens the content of one version as a stream that resumes after a broken connection. Returns null if the version does
 * not exist.
 *
 * @throws EvidenceError immediately or through the stream, see `Connection.attempt`.
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
    response = await get(connection, wanted, { Range: at === 0 ? undefined : `bytes=${at}-`, IfMatch: ETag });
    if (response === null) throw broken(wanted, 'it disappeared while it was read');
    if (at > 0 && response.ContentRange?.startsWith(`bytes ${at}-`) !== true)
      throw broken(wanted, 'the store does not resume where the connection broke');
  }
}

async function get(
  connection: Connection,
  { bucket, name, version_id }: Wanted,
  more: Pick<GetObjectCommandInput, 'Range' | 'IfMatch'>,
): Promise<GetObjectCommandOutput | null> {
  const command = new GetObjectCommand({ Bucket: bucket, Key: name, VersionId: version_id, ...more });
  const leave = ['NoSuchKey', 'NoSuchVersion', 'NotFound'];
  return connection.sendOr(`read s3://${bucket}/${name}`, command, leave, () => null);
}

function broken({ bucket, name }: Wanted, why: string): EvidenceError {
  return new EvidenceError('archive', `could not read s3://${bucket}/${name} to its end: ${why}`, {
    nextStep: { after: '' },
  });
}

/** Presigned requests: created locally, and answered by the store for anyone who sends them. */
export class S3Links implements Links {
  readonly #connection: Connection;
  readonly #find: (key: string) => Promise<Wanted>;

  /** @param find returns the version that is the object. */
  constructor(connection: Connection, find: (key: string) => Promise<Wanted>) {
    this.#connection = connection;
    this.#find = find;
  }

  async begin(seconds: number): Promise<LinkSeries> {
    const { client } = this.#connection;
    const credentials = await this.#connection.attempt('sign links', () => client.config.credentials());
    const { expiration, sessionToken } = credentials;
    // Loads the presigner only for commands that share.
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    // Uses the store's clock as far as the SDK has learned it, because the store decides when links expire.
    const now = Date.now() + client.config.systemClockOffset;
    const signingDate = new Date(now - (now % 1000));
    return {
      until: new Date(signingDate.getTime() + seconds * 1000),
      credentialsUntil: expiration ?? (sessionToken === undefined ? null : 'unknown'),
      linkTo: async (key) => {
        const { bucket, name, version_id } = await this.#find(key);
        const command = new GetObjectCommand({ Bucket: bucket, Key: name, VersionId: version_id });
        return this.#connection.attempt(`sign a link to ${key}`, () =>
          getSignedUrl(client, command, { expiresIn: seconds, signingDate }),
        );
      },
    };
  }
}
