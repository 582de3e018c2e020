import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type ObjectVersion,
  type S3Client,
} from '@aws-sdk/client-s3';

/** Returns all versions in a bucket, as another client sees them. */
export async function versionsIn(client: S3Client, bucket: string): Promise<ObjectVersion[]> {
  const { Versions = [], IsTruncated } = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }));
  if (IsTruncated === true) throw new Error('more versions than one page has');
  return Versions;
}

export async function uploadsIn(client: S3Client, bucket: string): Promise<number> {
  return (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0;
}

export async function contentOf(client: S3Client, bucket: string, { Key, VersionId }: ObjectVersion): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key, VersionId }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

/** Deletes a version. Returns the store's status: 204 if it deleted the version. */
export async function deleteVersion(client: S3Client, bucket: string, version: ObjectVersion): Promise<number> {
  const { Key, VersionId } = version;
  const command = new DeleteObjectCommand({ Bucket: bucket, Key, VersionId, BypassGovernanceRetention: true });
  const { $metadata } = await client.send(command).catch((error: { $metadata: { httpStatusCode?: number } }) => error);
  return $metadata.httpStatusCode ?? 0;
}
