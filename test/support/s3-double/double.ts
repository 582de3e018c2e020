import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Bucket, Content } from './objects.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { checkHeaders, checkSignature, Refusal, toDocument } from './protocol.ts';

/** What this store does; all of it as Amazon does unless said otherwise. */
export interface Behaviour {
  /** `claimed`: takes the headers and does nothing. */
  locks: boolean | 'claimed';
  versioned: boolean;
  /** `If-None-Match: *` */
  createOnly: 'enforced' | 'ignored' | 'not-implemented';
  /** Otherwise it believes whatever comes, and attests nothing. */
  checksums: boolean;
  /** To this identity. */
  locksShown: boolean;
  listsVersions: boolean;
  listsUploads: boolean;
  pageSize: number;
  kmsKeys: string[];
  /** Otherwise it takes the headers and stores in plain. */
  encrypts: boolean;
}

/** What goes wrong with one request. */
export type Fault =
  | { kind: 'answer'; status: number; code?: string; body?: string; retryAfter?: number }
  /** The connection breaks when so many bytes of the body came. */
  | { kind: 'cut-request'; bytes: number }
  /** … when so many bytes of the answer's body went. */
  | { kind: 'cut-answer'; bytes: number }
  /** What was asked is done, but nobody hears of it. */
  | { kind: 'done-then-cut' }
  | { kind: 'silence' }
  /** A byte changes on the way here. */
  | { kind: 'damage-request' }
  /** A byte changes after everything was checked. */
  | { kind: 'damage-stored' };

export interface SeenRequest {
  operation: string;
  /** The object's full name; empty for a listing. */
  name: string;
  headers: IncomingMessage['headers'];
  /** How many of this operation came, this one included. */
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
 * A store that is as strict as Amazon's where the real one of the tests is not: checksums, create-only writes in a bucket
 * with locks, conflicts; and that fails on demand. One bucket, called `bucket`.
 */
export class S3Double {
  readonly bucket: Bucket;
  readonly behaviour: Behaviour;
  readonly requests: SeenRequest[] = [];
  /** Which request is to fail, and how. */
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

  /** How often an operation was asked for. */
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

/** Null when the connection was cut. */
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
  // What was written goes out before the connection goes down.
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
