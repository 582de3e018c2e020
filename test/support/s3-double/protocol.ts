import type { IncomingHttpHeaders } from 'node:http';
import type { Content, Lock, StoredVersion } from './objects.ts';

/** An S3 error. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message = code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function invalid(message: string): Refusal {
  return new Refusal(400, 'InvalidRequest', message);
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=[0-9a-f]{64}$/;

/** Checks that the signature covers the S3 headers and the body's digest. */
export function checkSignature(headers: IncomingHttpHeaders, accessKeyId: string): void {
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  if (match === null) throw new Refusal(403, 'AccessDenied', 'no signature of version 4');
  if (match[1] !== accessKeyId)
    throw new Refusal(403, 'InvalidAccessKeyId', `The AWS Access Key Id ${match[1]} does not exist in our records.`);
  const signed = new Set((match[4] ?? '').split(';'));
  const needed = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  for (const name of needed) {
    if (name === 'x-amz-user-agent') continue;
    if (!signed.has(name)) throw new Refusal(403, 'AccessDenied', `${name} is not signed`);
  }
  if (headers['x-amz-date'] === undefined) throw new Refusal(403, 'AccessDenied', 'no x-amz-date');
  if (headers['x-amz-content-sha256'] === undefined)
    throw new Refusal(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
}

const ALWAYS = ['x-amz-date', 'x-amz-content-sha256', 'x-amz-user-agent', 'x-amz-security-token'];

/** Rejects headers that an operation does not support, instead of ignoring them. */
export function checkHeaders(headers: IncomingHttpHeaders, known: readonly string[]): void {
  for (const name of Object.keys(headers)) {
    if (!name.startsWith('x-amz-') || name.startsWith('x-amz-meta-') || ALWAYS.includes(name)) continue;
    if (!known.includes(name))
      throw new Refusal(
        501,
        'NotImplemented',
        `A header you provided implies functionality that is not implemented: ${name}`,
      );
  }
}

/** Checks the body against each header that describes it. */
export function checkBody(headers: IncomingHttpHeaders, content: Content, checksums: boolean): void {
  const length = headers['content-length'];
  if (length === undefined) throw new Refusal(411, 'MissingContentLength');
  if (Number(length) !== content.bytes) throw new Refusal(400, 'IncompleteBody');
  const signed = headers['x-amz-content-sha256'];
  const sha256Hex = Buffer.from(content.sha256, 'base64').toString('hex');
  if (checksums && signed !== 'UNSIGNED-PAYLOAD' && signed !== sha256Hex)
    throw new Refusal(400, 'XAmzContentSHA256Mismatch');
  const checksum = headers['x-amz-checksum-sha256'];
  if (checksums && checksum !== undefined && checksum !== content.sha256) throw new Refusal(400, 'BadDigest');
  const md5 = headers['content-md5'];
  if (md5 !== undefined && md5 !== Buffer.from(content.md5, 'hex').toString('base64'))
    throw new Refusal(400, 'BadDigest');
}

/** Returns the lock that a request asks for. */
export function readLock(
  headers: IncomingHttpHeaders,
  bucketLocks: boolean | 'claimed',
): Pick<StoredVersion, 'lock' | 'legalHold'> {
  const mode = headers['x-amz-object-lock-mode'];
  const until = headers['x-amz-object-lock-retain-until-date'];
  const hold = headers['x-amz-object-lock-legal-hold'];
  if (mode === undefined && until === undefined && hold === undefined) return { lock: undefined, legalHold: false };
  if (!bucketLocks) throw invalid('Bucket is missing Object Lock Configuration');
  if ((mode === undefined) !== (until === undefined))
    throw new Refusal(400, 'InvalidArgument', 'mode and retain-until date must both be supplied');
  if (hold !== undefined && hold !== 'ON' && hold !== 'OFF') throw new Refusal(400, 'InvalidArgument', 'legal hold');
  let lock: Lock | undefined;
  if (mode !== undefined && until !== undefined) {
    if (mode !== 'COMPLIANCE' && mode !== 'GOVERNANCE') throw new Refusal(400, 'InvalidArgument', 'Unknown wormMode');
    const date = new Date(String(until));
    if (!(date.getTime() > Date.now()))
      throw new Refusal(400, 'InvalidArgument', 'The retain until date must be in the future!');
    lock = { mode: String(mode), until: date };
  }
  return bucketLocks === 'claimed' ? { lock: undefined, legalHold: false } : { lock, legalHold: hold === 'ON' };
}

/** Returns the encryption that a request asks for. */
export function readEncryption(headers: IncomingHttpHeaders, kmsKeys: readonly string[]): StoredVersion['encryption'] {
  const algorithm = headers['x-amz-server-side-encryption'];
  const key = headers['x-amz-server-side-encryption-aws-kms-key-id'];
  if (algorithm === undefined) {
    if (key !== undefined) throw new Refusal(400, 'InvalidArgument', 'a key without SSE-KMS');
    return undefined;
  }
  if (algorithm !== 'aws:kms' && algorithm !== 'AES256') throw new Refusal(400, 'InvalidArgument', 'encryption');
  if (algorithm === 'AES256' && key !== undefined) throw new Refusal(400, 'InvalidArgument', 'a key with SSE-S3');
  if (algorithm === 'aws:kms' && !kmsKeys.includes(String(key)))
    throw new Refusal(400, 'KMS.NotFoundException', `Key '${String(key)}' does not exist`);
  return { algorithm: String(algorithm), key: String(key ?? '') };
}

export function readMetadata(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** XML elements by name: text, child elements, or lists of them. */
export type Elements = { [name: string]: string | number | boolean | Elements | Elements[] | undefined };

export function toXml(elements: Elements): string {
  return Object.entries(elements)
    .map(([name, value]) => {
      if (value === undefined) return '';
      if (Array.isArray(value)) return value.map((one) => `<${name}>${toXml(one)}</${name}>`).join('');
      return `<${name}>${typeof value === 'object' ? toXml(value) : escapeXml(String(value))}</${name}>`;
    })
    .join('');
}

export function toDocument(elements: Elements): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${toXml(elements)}`;
}

/** Returns the texts of elements without attributes, which is all that the exporter sends. */
export function textsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, text = '']) =>
    text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  );
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
