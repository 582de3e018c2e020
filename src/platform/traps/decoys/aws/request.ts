import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readQuery } from '../../aws/sigv4.ts';
import { headerPairs, rawHead } from '../raw-http.ts';

/** Number of bytes of a body that are kept; the rest is only hashed. */
const KEPT_BYTES = 64 * 2 ** 10;
const MOST_BYTES = 8 * 2 ** 20;

/** Request in the terms of AWS. */
export interface AwsRequest {
  method: string;
  /** Path as in the request line. */
  path: string;
  /** Query without the question mark. */
  query: string;
  headers: readonly (readonly [name: string, value: string])[];
  /** Hex SHA-256 of the body. */
  bodySha256: string;
  body: string;
  /** Parameters of the query, and of the body if the body is a form. */
  parameters: ReadonlyMap<string, string>;
  /** Request as it arrived, including the kept part of the body. */
  raw: string;
  isOld: boolean;
}

/** @returns null if the body is too large. */
export async function readAwsRequest(request: IncomingMessage): Promise<AwsRequest | null> {
  const { method = 'GET', url = '/', httpVersion } = request;
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
  const read = await readBody(request);
  if (read === null) return null;
  const headers = headerPairs(request);
  const isForm = headers.some(([name, value]) => name === 'content-type' && value.startsWith('application/x-www-form'));
  return {
    method,
    path: path === '' ? '/' : path,
    query,
    headers,
    ...read,
    parameters: new Map([...readQuery(query), ...(isForm ? readQuery(read.body) : [])]),
    raw: rawHead(request) + read.body,
    isOld: httpVersion === '1.0',
  };
}

export function headerOf({ headers }: Pick<AwsRequest, 'headers'>, wanted: string): string | null {
  return headers.find(([name]) => name === wanted)?.[1] ?? null;
}

async function readBody(request: IncomingMessage): Promise<{ body: string; bodySha256: string } | null> {
  const digest = createHash('sha256');
  const kept: Buffer[] = [];
  let bytes = 0;
  // A client that waits for 100 Continue has sent no body.
  if (request.headers.expect === undefined)
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - bytes));
      bytes += chunk.length;
      if (bytes > MOST_BYTES) return null;
      digest.update(chunk);
    }
  return { body: Buffer.concat(kept).toString('latin1'), bodySha256: digest.digest('hex') };
}

/** Operation of S3, and the permission that it needs. */
export interface S3Operation {
  name: string;
  right: string;
}

/** Operations by method and target: service, bucket or object. */
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

/** Operations by the query parameter that selects a part of a bucket or object. */
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

/** @param bucketInHost bucket in the host name; null if there is none. */
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
