import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readQuery } from '../../aws/sigv4.ts';
import { headerPairs, rawHead } from '../raw-http.ts';

/** Bytes of a body that are kept; of more, the digest is made. */
const KEPT_BYTES = 64 * 2 ** 10;
const MOST_BYTES = 8 * 2 ** 20;

/** A request, as AWS looks at it. */
export interface AwsRequest {
  method: string;
  /** As the request line has it. */
  path: string;
  /** Without the question mark. */
  query: string;
  headers: readonly (readonly [name: string, value: string])[];
  /** Hex SHA-256 of the body. */
  bodySha256: string;
  body: string;
  /** Parameters of the query, and of the body if it is a form. */
  parameters: ReadonlyMap<string, string>;
  /** As it came, as much as was kept. */
  raw: string;
  isOld: boolean;
}

/** @returns null for a body that is too large. */
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
