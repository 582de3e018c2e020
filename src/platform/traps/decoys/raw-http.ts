import {
  type IncomingMessage,
  type RequestOptions,
  request as requestPlain,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as requestTls } from 'node:https';
import type { Duplex } from 'node:stream';

/** Answer that is written byte for byte, without anything added by the platform or by Node. */
export interface RawAnswer {
  status: number;
  reason: string;
  /** Headers in order, as they are written. */
  headers: readonly (readonly [name: string, value: string])[];
  body: string;
}

/** Sends an answer whose headers state its length. Adds `Connection: close` if the client requested it. */
export function answerRaw(response: ServerResponse, { status, reason, headers, body }: RawAnswer): void {
  response.sendDate = false;
  for (const own of ['connection', 'transfer-encoding', 'content-length']) response.removeHeader(own);
  response.writeHead(status, reason, (response.shouldKeepAlive ? headers : closing(headers)).flat());
  response.end(body);
}

/** Adds `Connection: close`, before a trailing `Server` header. */
export function closing(headers: RawAnswer['headers']): RawAnswer['headers'] {
  if (headers.some(([name]) => name === 'Connection')) return headers;
  const at = headers.at(-1)?.[0] === 'Server' ? headers.length - 1 : headers.length;
  return headers.toSpliced(at, 0, ['Connection', 'close']);
}

/** Returns the answer as text for HTTP/1.0, which closes the connection after it. */
export function writtenOld({ status, reason, headers, body }: RawAnswer): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.0 ${status} ${reason}\r\n${lines}\r\n${body}`;
}

/** Answers that replace Node's own texts. */
interface RawErrors {
  /** Returns the answer to bytes that are not an HTTP request; null to close without an answer. */
  broken(code: string): string | null;
}

/** Keeps a server from sending texts of its own. */
export function serveRaw(server: Server, { broken }: RawErrors): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // A client whose handshake failed or timed out gets no answer.
    const answer = error.code?.startsWith('HPE_') === true && socket.writable ? broken(error.code) : null;
    if (answer === null) socket.destroy();
    else socket.end(answer, () => socket.destroy());
  });
  // Answers at once a client that waits for 100 Continue.
  const listener = (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket: Duplex) => {
    const answer = broken('CONNECT');
    if (answer === null) socket.destroy();
    else socket.end(answer, () => socket.destroy());
  });
}

/** Options for servers that judge requests themselves. */
export const RAW_HTTP = {
  requireHostHeader: false,
  keepAliveTimeout: 20_000,
  // Time limits are those of `LimitedConnections`.
  headersTimeout: 0,
  requestTimeout: 0,
  connectionsCheckingInterval: 60_000,
  noDelay: true,
} as const;

type RawRequest = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>;

/** Returns the request line and the headers as received. */
export function rawHead({ method, url, httpVersion, rawHeaders }: RawRequest): string {
  const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `${method} ${url} HTTP/${httpVersion}\r\n${headers}\r\n`;
}

/** Returns the headers in order, with names in lower case. */
export function headerPairs({ rawHeaders }: IncomingMessage): [name: string, value: string][] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as [string, string]] : [],
  );
}

const PROBE_MS = 5000;

/** Sends a request to a decoy of this process, without checking its certificate. @returns the status of the answer. */
export function probeHttp({
  isPlain,
  late,
  body,
  ...options
}: RequestOptions & { isPlain: boolean; late: string; body?: string | undefined }): Promise<number> {
  const to = { ...options, timeout: PROBE_MS, agent: false };
  return new Promise((resolve, reject) => {
    const request = isPlain ? requestPlain(to) : requestTls({ ...to, rejectUnauthorized: false });
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error(late)));
    request.on('error', reject);
    request.end(body);
  });
}
