import {
  type IncomingMessage,
  type RequestOptions,
  request as requestPlain,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as requestTls } from 'node:https';
import type { Duplex } from 'node:stream';

/** An answer, byte by byte: nothing of it is by this platform, or by Node. */
export interface RawAnswer {
  status: number;
  reason: string;
  /** In their order, and as they are written. */
  headers: readonly (readonly [name: string, value: string])[];
  body: string;
}

/** Sends an answer, whose headers say how long it is. Who wants the connection to end is told that it does. */
export function answerRaw(response: ServerResponse, { status, reason, headers, body }: RawAnswer): void {
  response.sendDate = false;
  for (const own of ['connection', 'transfer-encoding', 'content-length']) response.removeHeader(own);
  response.writeHead(status, reason, (response.shouldKeepAlive ? headers : closing(headers)).flat());
  response.end(body);
}

/** With what says that the connection ends, which stands before the name of the server where that comes last. */
export function closing(headers: RawAnswer['headers']): RawAnswer['headers'] {
  if (headers.some(([name]) => name === 'Connection')) return headers;
  const at = headers.at(-1)?.[0] === 'Server' ? headers.length - 1 : headers.length;
  return headers.toSpliced(at, 0, ['Connection', 'close']);
}

/** As text, for who speaks HTTP/1.0: the connection ends after it. */
export function writtenOld({ status, reason, headers, body }: RawAnswer): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.0 ${status} ${reason}\r\n${lines}\r\n${body}`;
}

/** Answers in place of Node's own texts. */
interface RawErrors {
  /** To what is no request of HTTP; null to say nothing. */
  broken(code: string): string | null;
}

/** Has a server say nothing of its own. */
export function serveRaw(server: Server, { broken }: RawErrors): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // A client whose handshake failed or that was too slow gets no answer.
    const answer = error.code?.startsWith('HPE_') === true && socket.writable ? broken(error.code) : null;
    if (answer === null) socket.destroy();
    else socket.end(answer, () => socket.destroy());
  });
  // A client that waits for 100 Continue gets the answer instead.
  const listener = (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket: Duplex) => {
    const answer = broken('CONNECT');
    if (answer === null) socket.destroy();
    else socket.end(answer, () => socket.destroy());
  });
}

/** Options of servers that judge requests themselves. */
export const RAW_HTTP = {
  requireHostHeader: false,
  keepAliveTimeout: 20_000,
  // Connections are held to their own limits.
  headersTimeout: 0,
  requestTimeout: 0,
  connectionsCheckingInterval: 60_000,
  noDelay: true,
} as const;

type RawRequest = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>;

/** The request line and the headers, as they came. */
export function rawHead({ method, url, httpVersion, rawHeaders }: RawRequest): string {
  const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `${method} ${url} HTTP/${httpVersion}\r\n${headers}\r\n`;
}

/** Names in lower case, and values, in their order. */
export function headerPairs({ rawHeaders }: IncomingMessage): [name: string, value: string][] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as [string, string]] : [],
  );
}

const PROBE_MS = 5000;

/** Sends a request to a decoy of this process, whose certificate nobody has to know. @returns the status of its answer. */
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
