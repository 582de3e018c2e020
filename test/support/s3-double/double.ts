import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Bucket, Content } from './objects.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { checkHeaders, checkSignature, Refusal, toDocument } from './protocol.ts';

/** Behavior of the store; by default Amazon's. */
export interface Behaviour {
  /** `claimed` accepts the headers and ignores them. */
  locks: boolean | 'claimed';
  versioned: boolean;
  /** Handling of `If-None-Match: *`. */
  createOnly: 'enforced' | 'ignored' | 'not-implemented';
  /** True to verify and return checksums. */
  checksums: boolean;
  /** True to show locks to this identity. */
  locksShown: boolean;
  listsVersions: boolean;
  listsUploads: boolean;
  pageSize: number;
  kmsKeys: string[];
  /** True to encrypt; otherwise the store accepts the headers and stores plain bytes. */
  encrypts: boolean;
}

/** A fault in one request. */
export type Fault =
  | { kind: 'answer'; status: number; code?: string; body?: string; retryAfter?: number }
  /** Breaks the connection after this many bytes of the request's body. */
  | { kind: 'cut-request'; bytes: number }
  /** Breaks the connection after this many bytes of the answer's body. */
  | { kind: 'cut-answer'; bytes: number }
  /** Performs the operation, then breaks the connection. */
  | { kind: 'done-then-cut' }
  | { kind: 'silence' }
  /** Changes a byte before the store checks it. */
  | { kind: 'damage-request' }
  /** Changes a byte after the store checked it. */
  | { kind: 'damage-stored' };

export interface SeenRequest {
  operation: string;
  /** Full name of the object; empty for a listing. */
  name: string;
  headers: IncomingMessage['headers'];
  /** Number of requests for this operation so far, including this one. */
  count: number;
}

export const DOUBLE_ENV = {
  AWS_ACCESS_KEY_ID: 'AKIADOUBLEDOUBLE0001',
  AWS_SECRET_ACCESS_KEY: 'double-secret-0123456789abcdefghijkl',
  AWS_REGION: 'us-east-1',
};

const AS_AMAZON: Behaviour = {
  locks: true,
  versioned: true,
  createOnly: 'enforced',
  checksums: true,
  locksShown: true,
  listsVersions: true,
  listsUploads: true,
  pageSize: 1000,
  kmsKeys: ['archive-key'],
  encrypts: true,
};

/**
 * A store that is as strict as Amazon's where the tests' real store is not (checksums, create-only writes in a bucket
 * with locks, conflicts), and that fails on demand. It has one bucket, called `bucket`.
 */
export class S3Double {
  readonly bucket: Bucket;
  readonly behaviour: Behaviour;
  readonly requests: SeenRequest[] = [];
  /** Returns the fault of a request, if any. */
  fault: (request: SeenRequest) => Fault | undefined = () => undefined;
  endpoint = '';
  readonly #server: Server;
  readonly #counts = new Map<string, number>();

  private constructor(behaviour: Partial<Behaviour>) {
    this.behaviour = { ...AS_AMAZON, ...behaviour };
    this.bucket = new Bucket(this.behaviour.versioned);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(behaviour: Partial<Behaviour> = {}): Promise<S3Double> {
    const double = new S3Double(behaviour);
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    double.endpoint = `http://127.0.0.1:${(double.#server.address() as AddressInfo).port}`;
    return double;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Returns the number of requests for an operation. */
  count(operation: string): number {
    return this.#counts.get(operation) ?? 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://double');
    const [, bucket = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
    const name = rest.join('/');
    const found = OPERATIONS.find((operation) =>
      operation.is(request.method ?? '', url.searchParams, name, request.headers),
    );
    if (found === undefined) return refuse(response, new Refusal(405, 'MethodNotAllowed'));
    const seen = this.#note(found.name, name, request);
    const fault = this.fault(seen);
    const content = await receive(request, fault);
    if (content === null || fault?.kind === 'silence') return;
    try {
      if (fault?.kind === 'answer') return answerWith(response, fault);
      checkSignature(request.headers, DOUBLE_ENV.AWS_ACCESS_KEY_ID);
      checkHeaders(request.headers, found.headers);
      if (bucket !== 'bucket') throw new Refusal(404, 'NoSuchBucket');
      const answer = this.#carryOut(found, { name, url, request, content });
      if (fault?.kind === 'damage-stored') content.damage();
      if (fault?.kind === 'done-then-cut') return void request.socket.destroy();
      await send(response, answer, fault?.kind === 'cut-answer' ? fault.bytes : null);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(response, error);
    }
  }

  #carryOut(
    operation: Operation,
    { name, url, request, content }: { name: string; url: URL; request: IncomingMessage; content: Content },
  ) {
    const { bucket, behaviour } = this;
    return operation.carryOut({ bucket, behaviour, name, query: url.searchParams, headers: request.headers, content });
  }

  #note(operation: string, name: string, { headers }: IncomingMessage): SeenRequest {
    const count = this.count(operation) + 1;
    this.#counts.set(operation, count);
    const seen = { operation, name, headers, count };
    this.requests.push(seen);
    return seen;
  }
}

/** Receives a body; null if the connection was cut. */
async function receive(request: IncomingMessage, fault: Fault | undefined): Promise<Content | null> {
  const content = new Content();
  let damaged = false;
  try {
    for await (const block of request as AsyncIterable<Buffer>) {
      if (fault?.kind === 'damage-request' && !damaged) {
        block[0] = (block[0] ?? 0) ^ 1;
        damaged = true;
      }
      content.add(block);
      if (fault?.kind === 'cut-request' && content.bytes >= fault.bytes) {
        request.socket.destroy();
        return null;
      }
    }
  } catch {
    return null;
  }
  return content.end();
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Iterable<Buffer>;
}

async function send(response: ServerResponse, answer: Answer, cutAt: number | null): Promise<void> {
  response.writeHead(answer.status ?? 200, answer.headers);
  const body = typeof answer.body === 'string' ? [Buffer.from(answer.body)] : (answer.body ?? []);
  if (cutAt === null) return pipeline(Readable.from(body, { objectMode: false }), response).catch(() => undefined);
  let left = cutAt;
  for (const block of body) {
    if (left > 0) response.write(block.subarray(0, left));
    left -= block.length;
  }
  // Flush written bytes before closing the connection.
  response.write('', () => response.destroy());
}

function answerWith(response: ServerResponse, { status, code, body, retryAfter }: Fault & { kind: 'answer' }): void {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  response.writeHead(status, { 'content-type': 'application/xml', ...headers });
  response.end(body ?? toDocument({ Error: { Code: code ?? 'InternalError', Message: 'as the test wants it' } }));
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(toDocument({ Error: { Code: code, Message: message } }));
}
