import { CopyObjectCommand } from '@aws-sdk/client-s3';
import type { Connection } from './connection.ts';
import { isRefusal } from './failure.ts';
import type { PutProtection } from './policy.ts';
import type { Wanted } from './read.ts';

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
  const leave = [400, 403, 405, 501];
  try {
    await connection.attempt(
      `copy a version of s3://${bucket}/${name}`,
      (abortSignal) => connection.client.send(command, { abortSignal }),
      { leave },
    );
    return true;
  } catch (error) {
    if (!isRefusal(error, ...leave)) throw error;
    return false;
  }
}
