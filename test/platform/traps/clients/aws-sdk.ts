import {
  GetBucketLocationCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

/** Typical clients, which know only the files in the home folder. */
const CALLS: Record<string, () => Promise<unknown>> = {
  'get-caller-identity': () => new STSClient().send(new GetCallerIdentityCommand()),
  'list-buckets': () => new S3Client().send(new ListBucketsCommand()),
  'bucket-location': () => new S3Client().send(new GetBucketLocationCommand({ Bucket: 'backups' })),
  'get-object': () => new S3Client().send(new GetObjectCommand({ Bucket: 'backups', Key: 'a b/ä+~$(1).txt' })),
  'put-object': () =>
    new S3Client({ requestHandler: { connectionTimeout: 5000 } }).send(
      new PutObjectCommand({ Bucket: 'backups', Key: 'x', Body: Buffer.alloc(200_000, 7) }),
    ),
};

const [name = ''] = process.argv.slice(2);
try {
  const answer = await CALLS[name]?.();
  process.stdout.write(JSON.stringify({ ...(answer as object), $metadata: undefined }));
} catch (error) {
  process.stdout.write((error as Error).name);
}
