import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, Behaviour } from './double.ts';
import { listObjects, listUploads, listVersions } from './listings.ts';
import type { Bucket, Content, PendingUpload, StoredVersion } from './objects.ts';
import {
  checkBody,
  invalid,
  Refusal,
  readEncryption,
  readLock,
  readMetadata,
  textsOf,
  toDocument,
} from './protocol.ts';

export interface Call {
  bucket: Bucket;
  behaviour: Behaviour;
  name: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  content: Content;
}

export interface Operation {
  name: string;
  is(method: string, query: URLSearchParams, name: string, headers: IncomingHttpHeaders): boolean;
  /** S3 headers that the operation supports, in addition to those of every request. */
  headers: readonly string[];
  carryOut(call: Call): Answer;
}

const LOCK = ['x-amz-object-lock-mode', 'x-amz-object-lock-retain-until-date', 'x-amz-object-lock-legal-hold'];
const ENCRYPTION = ['x-amz-server-side-encryption', 'x-amz-server-side-encryption-aws-kms-key-id'];
const MIN_PART = 5 * 2 ** 20;
const MAX_COPY = 5 * 2 ** 30;

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'UploadPart',
    is: (method, query) => method === 'PUT' && query.has('uploadId'),
    headers: ['x-amz-checksum-sha256'],
    carryOut: uploadPart,
  },
  {
    name: 'CopyObject',
    is: (method, query, name, headers) =>
      method === 'PUT' && name !== '' && onlyKnown(query) && headers['x-amz-copy-source'] !== undefined,
    headers: ['x-amz-copy-source', ...LOCK, ...ENCRYPTION],
    carryOut: copyObject,
  },
  {
    name: 'PutObject',
    is: (method, query, name) => method === 'PUT' && name !== '' && onlyKnown(query),
    headers: ['x-amz-checksum-sha256', ...LOCK, ...ENCRYPTION],
    carryOut: putObject,
  },
  {
    name: 'CreateMultipartUpload',
    is: (method, query) => method === 'POST' && query.has('uploads'),
    headers: ['x-amz-checksum-algorithm', ...LOCK, ...ENCRYPTION],
    carryOut: createUpload,
  },
  {
    name: 'CompleteMultipartUpload',
    is: (method, query) => method === 'POST' && query.has('uploadId'),
    headers: [],
    carryOut: completeUpload,
  },
  {
    name: 'AbortMultipartUpload',
    is: (method, query) => method === 'DELETE' && query.has('uploadId'),
    headers: [],
    carryOut: abortUpload,
  },
  {
    name: 'HeadObject',
    is: (method, _query, name) => method === 'HEAD' && name !== '',
    headers: ['x-amz-checksum-mode'],
    carryOut: (call) => ({ ...getObject(call), body: [] }),
  },
  {
    name: 'GetObjectRetention',
    is: (method, query) => method === 'GET' && query.has('retention'),
    headers: [],
    carryOut: getRetention,
  },
  {
    name: 'ListMultipartUploads',
    is: (method, query, name) => method === 'GET' && name === '' && query.has('uploads'),
    headers: [],
    carryOut: listUploads,
  },
  {
    name: 'ListObjectVersions',
    is: (method, query, name) => method === 'GET' && name === '' && query.has('versions'),
    headers: [],
    carryOut: listVersions,
  },
  {
    name: 'ListObjectsV2',
    is: (method, query, name) => method === 'GET' && name === '' && query.get('list-type') === '2',
    headers: [],
    carryOut: listObjects,
  },
  {
    name: 'GetObject',
    is: (method, _query, name) => method === 'GET' && name !== '',
    headers: ['x-amz-checksum-mode'],
    carryOut: getObject,
  },
];

function onlyKnown(query: URLSearchParams): boolean {
  return [...query.keys()].every((key) => key === 'x-id');
}

function putObject({ bucket, behaviour, name, headers, content }: Call): Answer {
  const { lock, legalHold } = readLock(headers, behaviour.locks);
  const attested = headers['x-amz-checksum-sha256'] !== undefined;
  if ((lock !== undefined || legalHold) && !attested && headers['content-md5'] === undefined)
    throw invalid(
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
    );
  checkBody(headers, content, behaviour.checksums);
  const encryption = encryptionOf(headers, behaviour);
  checkCreateOnly(bucket, behaviour, name, headers);
  const stored = bucket.store(name, {
    marker: false,
    parts: [content],
    bytes: content.bytes,
    etag: `"${content.md5}"`,
    checksum: attested && behaviour.checksums ? content.sha256 : undefined,
    metadata: readMetadata(headers),
    lock,
    legalHold,
    encryption,
  });
  return { headers: { etag: stored.etag, ...versionHeader(stored) } };
}

function copyObject({ bucket, behaviour, name, headers }: Call): Answer {
  const source = /^bucket\/(?<from>[^?]+)\?versionId=(?<id>[^&]+)$/.exec(String(headers['x-amz-copy-source']))?.groups;
  if (source === undefined) throw new Refusal(400, 'InvalidArgument', 'x-amz-copy-source');
  const { from = '', id = '' } = source;
  const found = bucket.names.get(decodeURIComponent(from))?.find((version) => version.id === decodeURIComponent(id));
  if (found === undefined || found.marker) throw new Refusal(404, 'NoSuchVersion');
  if (found.bytes > MAX_COPY) throw new Refusal(400, 'InvalidRequest', 'larger than the maximum of a copy');
  checkCreateOnly(bucket, behaviour, name, headers);
  const encryption = encryptionOf(headers, behaviour);
  const stored = bucket.store(name, { ...found, ...readLock(headers, behaviour.locks), encryption });
  return { headers: versionHeader(stored), body: toDocument({ CopyObjectResult: { ETag: stored.etag } }) };
}

function encryptionOf(headers: IncomingHttpHeaders, { kmsKeys, encrypts }: Behaviour): StoredVersion['encryption'] {
  const encryption = readEncryption(headers, kmsKeys);
  return encrypts ? encryption : undefined;
}

function checkCreateOnly(bucket: Bucket, { createOnly }: Behaviour, name: string, headers: IncomingHttpHeaders): void {
  const condition = headers['if-none-match'];
  if (condition === undefined || createOnly === 'ignored') return;
  if (createOnly === 'not-implemented' || condition !== '*') throw new Refusal(501, 'NotImplemented');
  if (bucket.current(name) !== undefined) throw new Refusal(412, 'PreconditionFailed');
}

function createUpload({ bucket, behaviour, name, headers }: Call): Answer {
  const algorithm = headers['x-amz-checksum-algorithm'];
  if (algorithm !== undefined && algorithm !== 'SHA256') throw invalid('checksum algorithm');
  const upload: PendingUpload = {
    id: bucket.newId(),
    name,
    checksums: algorithm === 'SHA256' && behaviour.checksums,
    parts: new Map(),
    rest: {
      ...readLock(headers, behaviour.locks),
      metadata: readMetadata(headers),
      encryption: encryptionOf(headers, behaviour),
    },
    begun: new Date(),
  };
  bucket.uploads.set(upload.id, upload);
  return { body: toDocument({ InitiateMultipartUploadResult: { Bucket: 'bucket', Key: name, UploadId: upload.id } }) };
}

function uploadPart({ bucket, behaviour, name, query, headers, content }: Call): Answer {
  const upload = uploadOf(bucket, name, query);
  const number = Number(query.get('partNumber'));
  if (!Number.isInteger(number) || number < 1 || number > 10_000)
    throw new Refusal(400, 'InvalidArgument', 'partNumber');
  if (headers['x-amz-checksum-sha256'] === undefined && (upload.checksums || behaviour.locks))
    throw invalid(
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Part requests with Object Lock parameters',
    );
  checkBody(headers, content, behaviour.checksums);
  upload.parts.set(number, content);
  return { headers: { etag: `"${content.md5}"` } };
}

function completeUpload({ bucket, behaviour, name, query, headers, content }: Call): Answer {
  const upload = uploadOf(bucket, name, query);
  const xml = Buffer.concat([...content.read()]).toString();
  const numbers = textsOf(xml, 'PartNumber').map(Number);
  const [etags, checksums] = [textsOf(xml, 'ETag'), textsOf(xml, 'ChecksumSHA256')];
  if (numbers.length === 0 || numbers.some((number, at) => at > 0 && number <= (numbers[at - 1] ?? 0)))
    throw new Refusal(400, 'InvalidPartOrder');
  const parts = numbers.map((number, at) => {
    const part = upload.parts.get(number);
    if (part === undefined || etags[at] !== `"${part.md5}"`) throw new Refusal(400, 'InvalidPart');
    if (upload.checksums && checksums[at] !== part.sha256) throw new Refusal(400, 'InvalidPart', 'checksum');
    if (at < numbers.length - 1 && part.bytes < MIN_PART) throw new Refusal(400, 'EntityTooSmall');
    return part;
  });
  checkCreateOnly(bucket, behaviour, name, headers);
  const whole = createHash('sha256');
  for (const part of parts) whole.update(part.sha256, 'base64');
  const stored = bucket.store(name, {
    marker: false,
    parts,
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    etag: `"${upload.id}-${parts.length}"`,
    checksum: upload.checksums ? `${whole.digest('base64')}-${parts.length}` : undefined,
    ...upload.rest,
  });
  bucket.uploads.delete(upload.id);
  return {
    headers: versionHeader(stored),
    body: toDocument({ CompleteMultipartUploadResult: { Bucket: 'bucket', Key: name, ETag: stored.etag } }),
  };
}

function abortUpload({ bucket, name, query }: Call): Answer {
  bucket.uploads.delete(uploadOf(bucket, name, query).id);
  return { status: 204 };
}

function uploadOf(bucket: Bucket, name: string, query: URLSearchParams): PendingUpload {
  const upload = bucket.uploads.get(query.get('uploadId') ?? '');
  if (upload === undefined || upload.name !== name) throw new Refusal(404, 'NoSuchUpload');
  return upload;
}

function getObject({ bucket, behaviour, name, query, headers }: Call): Answer {
  const version = versionOf(bucket, name, query);
  const match = headers['if-match'];
  if (match !== undefined && match !== version.etag) throw new Refusal(412, 'PreconditionFailed');
  const [, start] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  const from = Number(start ?? 0);
  if (start !== undefined && from >= version.bytes) throw new Refusal(416, 'InvalidRange');
  const checksum = headers['x-amz-checksum-mode'] === 'ENABLED' ? version.checksum : undefined;
  return {
    status: start === undefined ? 200 : 206,
    headers: {
      etag: version.etag,
      'content-length': String(version.bytes - from),
      ...(start === undefined ? {} : { 'content-range': `bytes ${from}-${version.bytes - 1}/${version.bytes}` }),
      ...(checksum === undefined ? {} : { 'x-amz-checksum-sha256': checksum }),
      ...(version.encryption === undefined ? {} : { 'x-amz-server-side-encryption': version.encryption.algorithm }),
      ...(behaviour.locksShown ? lockHeaders(version) : {}),
      ...version.metadata,
      ...versionHeader(version),
    },
    body: contentFrom(version, from),
  };
}

function* contentFrom({ parts }: StoredVersion, from: number): Generator<Buffer> {
  let skip = from;
  for (const part of parts) {
    if (skip < part.bytes) yield* part.read(skip);
    skip = Math.max(0, skip - part.bytes);
  }
}

function getRetention({ bucket, behaviour, name, query }: Call): Answer {
  const { lock } = versionOf(bucket, name, query);
  if (!behaviour.locks) throw invalid('Bucket is missing Object Lock Configuration');
  if (!behaviour.locksShown) throw new Refusal(403, 'AccessDenied');
  if (lock === undefined) throw new Refusal(404, 'NoSuchObjectLockConfiguration');
  return { body: toDocument({ Retention: { Mode: lock.mode, RetainUntilDate: lock.until.toISOString() } }) };
}

function versionOf(bucket: Bucket, name: string, query: URLSearchParams): StoredVersion {
  const id = query.get('versionId');
  const version = id === null ? bucket.current(name) : bucket.names.get(name)?.find((stored) => stored.id === id);
  if (version === undefined) throw new Refusal(404, id === null ? 'NoSuchKey' : 'NoSuchVersion');
  if (version.marker) throw new Refusal(405, 'MethodNotAllowed');
  return version;
}

function versionHeader({ id }: StoredVersion): Record<string, string> {
  return id === 'null' ? {} : { 'x-amz-version-id': id };
}

function lockHeaders({ lock, legalHold }: StoredVersion): Record<string, string> {
  return {
    ...(lock === undefined
      ? {}
      : { 'x-amz-object-lock-mode': lock.mode, 'x-amz-object-lock-retain-until-date': lock.until.toISOString() }),
    ...(legalHold ? { 'x-amz-object-lock-legal-hold': 'ON' } : {}),
  };
}
