import { GetObjectCommand } from '@aws-sdk/client-s3';
import type { LinkSeries, Links } from '../archive.ts';
import type { Connection } from './connection.ts';
import type { Wanted } from './read.ts';

/** Presigned requests: made here without asking the store, and answered by it for whoever sends them. */
export class S3Links implements Links {
  readonly #connection: Connection;
  readonly #find: (key: string) => Promise<Wanted>;

  /** @param find the version that is the object. */
  constructor(connection: Connection, find: (key: string) => Promise<Wanted>) {
    this.#connection = connection;
    this.#find = find;
  }

  async begin(seconds: number): Promise<LinkSeries> {
    const { client } = this.#connection;
    const credentials = await this.#connection.attempt('sign links', () => client.config.credentials());
    const { expiration, sessionToken } = credentials;
    // Only those pay for loading it who share.
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    // By the store's clock as far as the SDK has learned it: the store judges when they end.
    const now = Date.now() + client.config.systemClockOffset;
    const signingDate = new Date(now - (now % 1000));
    return {
      until: new Date(signingDate.getTime() + seconds * 1000),
      credentialsUntil: expiration ?? (sessionToken === undefined ? null : 'unknown'),
      linkTo: async (key) => {
        const { bucket, name, version_id } = await this.#find(key);
        const version = version_id === undefined ? {} : { VersionId: version_id };
        const command = new GetObjectCommand({ Bucket: bucket, Key: name, ...version });
        return this.#connection.attempt(`sign a link to ${key}`, () =>
          getSignedUrl(client, command, { expiresIn: seconds, signingDate }),
        );
      },
    };
  }
}
