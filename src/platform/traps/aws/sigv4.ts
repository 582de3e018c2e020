import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** Signed parts of a request, as specified by AWS Signature Version 4 (SigV4). */
export interface SignedParts {
  method: string;
  /** Path as in the request line, without the query. */
  path: string;
  /** Query as in the request line, without the question mark. */
  query: string;
  /** Names in lower case, and values; a name may be repeated. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Names of the signed headers, in lower case. */
  signedHeaders: readonly string[];
  /** Hex SHA-256 of the body, or the literal that replaces the digest. */
  payload: string;
  /** Time as `YYYYMMDDTHHMMSSZ`. */
  time: string;
  scope: SigningScope;
}

export interface SigningScope {
  /** Date as `YYYYMMDD`. */
  date: string;
  region: string;
  service: string;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Parts of a signature that S3 reports in its error to a client with a wrong signature. */
export interface AwsSigning {
  canonicalRequest: string;
  stringToSign: string;
  signature: string;
}

/** Signs a request whose path is already canonical. */
function signParts(parts: SignedParts, secret: string, canonicalPath: string): AwsSigning {
  const { method, query, signedHeaders, payload, time, scope } = parts;
  const headers = signedHeaders.map((name) => `${name}:${headerText(parts, name)}\n`).join('');
  const canonicalRequest = [
    method,
    canonicalPath,
    canonicalQuery(query),
    headers,
    signedHeaders.join(';'),
    payload,
  ].join('\n');
  const stringToSign = [ALGORITHM, time, scopeText(scope), hash('sha256', canonicalRequest, 'hex')].join('\n');
  const signature = hmac(signingKey(secret, scope), stringToSign).toString('hex');
  return { canonicalRequest, stringToSign, signature };
}

/** Signs the POST of a form. @returns the headers. */
export function signForm(
  body: string,
  { host, path, region, service }: { host: string; path: string; region: string; service: string },
  { accessKeyId, secret }: { accessKeyId: string; secret: string },
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = { date: time.slice(0, 8), region, service };
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', host, 'x-amz-date': time };
  const signedHeaders = Object.keys(headers);
  const payload = hash('sha256', body, 'hex');
  const parts = {
    method: 'POST',
    path,
    query: '',
    headers: Object.entries(headers),
    signedHeaders,
    payload,
    time,
    scope,
  };
  const { signature } = signParts(parts, secret, path);
  const credential = `${accessKeyId}/${scopeText(scope)}`;
  const authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`;
  return { ...headers, authorization };
}

function scopeText({ date, region, service }: SigningScope): string {
  return `${date}/${region}/${service}/aws4_request`;
}

/**
 * Checks a signature against a secret. S3 signs the path as sent, and all other services encode the path once more.
 * Clients differ in how they normalize the path before that, so each form is tried.
 * @returns the signing that matches, or that of the first form.
 */
export function judgeSignature(
  parts: SignedParts,
  secret: string,
  signature: string,
): { isRight: boolean; signing: AwsSigning } {
  const [first, ...others] = canonicalPaths(parts).map((path) => signParts(parts, secret, path));
  if (first === undefined) throw new Error('a path has no form');
  const right = [first, ...others].find((each) => isSame(each.signature, signature));
  return { isRight: right !== undefined, signing: right ?? first };
}

function canonicalPaths({ path, scope: { service } }: SignedParts): string[] {
  const encoded = encodeSegments(path, (segment) => encodePart(decodePart(segment)));
  // S3 reads a plus sign as a space, and some clients sign the path that way.
  const spaced = encodeSegments(path, (segment) => encodePart(decodePart(segment.replaceAll('+', ' '))));
  const twice = encodeSegments(path, encodePart);
  const twiceTidied = encodeSegments(tidied(path), encodePart);
  return [...new Set(service === 's3' ? [encoded, path, spaced, twice] : [twiceTidied, twice, encoded, path])];
}

/** Removes dot segments as RFC 3986 section 5.2.4 does, and also empty segments. */
function tidied(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`;
}

function encodeSegments(path: string, encode: (segment: string) => string): string {
  return path.split('/').map(encode).join('/');
}

/** Returns the query sorted by encoded name, then by value, without the signature itself. */
function canonicalQuery(query: string): string {
  const pairs = readQuery(query).filter(([name]) => name !== 'X-Amz-Signature');
  const encoded = pairs.map(([name, value]) => [encodePart(name), encodePart(value)] as const);
  return encoded
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the names and values of a query or of a form. */
export function readQuery(query: string): [name: string, value: string][] {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      return [decodePart(name.replaceAll('+', ' ')), decodePart(value.replaceAll('+', ' '))];
    });
}

function headerText({ headers }: SignedParts, wanted: string): string {
  const values = headers.filter(([name]) => name === wanted).map(([, value]) => value.trim().replace(/\s+/g, ' '));
  return values.join(',');
}

/** Percent-encodes all but the unreserved characters of RFC 3986 section 2.3, in upper case. */
export function encodePart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function signingKey(secret: string, { date, region, service }: SigningScope): Buffer {
  return [date, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`) as Buffer;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
