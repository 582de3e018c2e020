import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { EvidenceError } from '../../../core/errors.ts';
import { wait } from '../../../core/wait.ts';
import { expectedContent } from '../content.ts';
import type { Connection } from './connection.ts';
import { isRefusal, isTransient } from './failure.ts';
import { type PartMemory, partSize, toParts, type UploadPart } from './parts.ts';
import { metadataOf, type Upload, type Uploaded } from './upload.ts';

/** Time limit for removing a failed upload, which also applies during shutdown. */
const ABORT_WITHIN_MS = 3000;

/**
 * Stores an object in parts, each with a checksum. If the upload fails, its parts are removed.
 *
 * @throws SDK errors if the whole upload may be retried; otherwise EvidenceError, see `Connection.attempt`.
 */
export async function putParts(connection: Connection, upload: Upload, memory: PartMemory): Promise<Uploaded> {
  const { bucket, name, expected, protection } = upload;
  const command = new CreateMultipartUploadCommand({
    Bucket: bucket,
    Key: name,
    ChecksumAlgorithm: 'SHA256',
    Metadata: metadataOf(expected),
    ...protection,
  });
  const { UploadId } = await connection.send(`begin to store s3://${bucket}/${name}`, command);
  if (UploadId === undefined)
    throw new EvidenceError('archive', `the store did not start an upload of s3://${bucket}/${name}`);
  try {
    return await complete(connection, upload, UploadId, await sendParts(connection, upload, UploadId, memory));
  } catch (error) {
    await abortUpload(connection, bucket, name, UploadId);
    throw error;
  }
}

async function sendParts(
  connection: Connection,
  upload: Upload,
  uploadId: string,
  memory: PartMemory,
): Promise<CompletedPart[]> {
  const { source, expected } = upload;
  const sending: Promise<CompletedPart>[] = [];
  let failed = false;
  try {
    const size = partSize(expected.bytes, connection.limits.partBytes);
    for await (const part of toParts(expectedContent(source, expected), size, memory)) {
      const sent = sendPart(connection, upload, uploadId, part).finally(() => memory.give(part.memory));
      sent.catch(() => {
        failed = true;
      });
      sending.push(sent);
      if (failed) break;
    }
    return await Promise.all(sending);
  } finally {
    // An upload cannot be removed completely while parts of it are in flight.
    await Promise.allSettled(sending);
  }
}

async function sendPart(
  connection: Connection,
  { bucket, name }: Upload,
  uploadId: string,
  { number, content }: UploadPart,
): Promise<CompletedPart> {
  const checksum = createHash('sha256').update(content).digest('base64');
  const command = new UploadPartCommand({
    Bucket: bucket,
    Key: name,
    UploadId: uploadId,
    PartNumber: number,
    Body: content,
    ContentLength: content.length,
    ChecksumSHA256: checksum,
  });
  const options = { bytes: content.length, leave: ['NoSuchUpload'] };
  const { ETag } = await connection.send(`store part ${number} of s3://${bucket}/${name}`, command, options);
  return { PartNumber: number, ETag, ChecksumSHA256: checksum };
}

async function complete(
  connection: Connection,
  { bucket, name, createOnly }: Upload,
  uploadId: string,
  parts: CompletedPart[],
): Promise<Uploaded> {
  const command = new CompleteMultipartUploadCommand({
    Bucket: bucket,
    Key: name,
    UploadId: uploadId,
    MultipartUpload: { Parts: parts },
    ...(createOnly ? { IfNoneMatch: '*' } : {}),
  });
  // After a conflict, all parts have to be sent again.
  const leave = [409, 412, 'NoSuchUpload'];
  const { VersionId } = await connection.send(`complete s3://${bucket}/${name}`, command, { leave });
  const whole = createHash('sha256');
  for (const { ChecksumSHA256 = '' } of parts) whole.update(ChecksumSHA256, 'base64');
  return { version_id: VersionId, checksum: `${whole.digest('base64')}-${parts.length}` };
}

/** Removes the parts of an upload. Errors are ignored, because the caller already reports a failure. */
async function abortUpload(connection: Connection, bucket: string, name: string, uploadId: string): Promise<void> {
  const abortSignal = AbortSignal.timeout(ABORT_WITHIN_MS);
  let removed = false;
  while (!removed && !abortSignal.aborted)
    removed = await connection.client
      .send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: name, UploadId: uploadId }), { abortSignal })
      .then(
        () => true,
        async (error: unknown) => {
          if (!isTransient(error) || isRefusal(error, 'NoSuchUpload')) return true;
          await wait(connection.limits.firstWaitMs);
          return false;
        },
      );
}

/**
 * Removes abandoned uploads of dead processes. These cost money and do not appear in listings of objects.
 *
 * @param prefix of full names.
 * @param isDead receives the name of an upload and the time at which it began.
 * @returns false if the store does not allow listing uploads.
 */
export async function sweepUploads(
  connection: Connection,
  bucket: string,
  prefix: string,
  isDead: (name: string, begun: Date | undefined) => boolean,
): Promise<boolean> {
  let markers: { KeyMarker?: string; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...markers });
    const doing = `list unfinished uploads of s3://${bucket}/${prefix}`;
    const page = await connection.sendOr(doing, command, [403, 405, 501], () => null);
    if (page === null) return false;
    for (const { Key = '', UploadId = '', Initiated } of page.Uploads ?? [])
      if (isDead(Key, Initiated)) await abortUpload(connection, bucket, Key, UploadId);
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page;
    if (IsTruncated !== true || NextKeyMarker === undefined || NextKeyMarker === markers.KeyMarker) return true;
    markers = { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker };
  }
}
