import type { AwsRequest } from './request.ts';

/** An operation of S3, and the right that it needs. */
export interface S3Operation {
  name: string;
  right: string;
}

/** By method and what is asked of: the service, a bucket, an object. */
const PLAIN: Readonly<Record<string, S3Operation>> = {
  'GET service': { name: 'ListBuckets', right: 'ListAllMyBuckets' },
  'GET bucket': { name: 'ListObjects', right: 'ListBucket' },
  'HEAD bucket': { name: 'HeadBucket', right: 'ListBucket' },
  'PUT bucket': { name: 'CreateBucket', right: 'CreateBucket' },
  'DELETE bucket': { name: 'DeleteBucket', right: 'DeleteBucket' },
  'GET object': { name: 'GetObject', right: 'GetObject' },
  'HEAD object': { name: 'HeadObject', right: 'GetObject' },
  'PUT object': { name: 'PutObject', right: 'PutObject' },
  'DELETE object': { name: 'DeleteObject', right: 'DeleteObject' },
};

/** By the member of the query that says what of a bucket or an object is meant. */
const OF_PARTS: Readonly<Record<string, string>> = {
  acl: 'Acl',
  cors: 'Cors',
  encryption: 'Encryption',
  lifecycle: 'LifecycleConfiguration',
  location: 'Location',
  logging: 'Logging',
  notification: 'NotificationConfiguration',
  policy: 'Policy',
  policyStatus: 'PolicyStatus',
  publicAccessBlock: 'PublicAccessBlock',
  replication: 'Replication',
  tagging: 'Tagging',
  versioning: 'Versioning',
  website: 'Website',
};
const VERBS: Readonly<Record<string, string>> = { GET: 'Get', PUT: 'Put', DELETE: 'Delete' };

/** @param bucketInHost a bucket that is named by the host. */
export function s3Operation({ method, path, parameters }: AwsRequest, bucketInHost: string | null): S3Operation {
  const segments = path.split('/').slice(1);
  const depth =
    (bucketInHost === null ? 0 : 1) + (segments[0] === '' ? 0 : segments.filter((each) => each !== '').length);
  const of = depth === 0 ? 'service' : depth === 1 ? 'bucket' : 'object';
  if (of === 'bucket' && method === 'GET' && parameters.get('list-type') === '2')
    return { name: 'ListObjectsV2', right: 'ListBucket' };
  if (parameters.has('uploads') || parameters.has('uploadId'))
    return { name: method === 'POST' ? 'CreateMultipartUpload' : 'UploadPart', right: 'PutObject' };
  if (method === 'POST' && parameters.has('delete')) return { name: 'DeleteObjects', right: 'DeleteObject' };
  const part = Object.entries(OF_PARTS).find(([name]) => parameters.has(name))?.[1];
  const verb = VERBS[method];
  if (part !== undefined && verb !== undefined && of !== 'service') {
    const name = `${verb}${of === 'bucket' ? 'Bucket' : 'Object'}${part}`;
    return { name, right: name };
  }
  return PLAIN[`${method} ${of}`] ?? { name: `${method}`, right: 'PutObject' };
}
