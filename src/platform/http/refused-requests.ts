import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerProblem, HttpProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route reads bodies with `Content-Encoding: gzip`. */
    takesGzip?: boolean;
  }
}

/** Seconds after which the successor of a closing process should answer. */
const RETRY_SECONDS = 5;

/** Refuses requests that no route could answer correctly, before authentication. */
export function refuseUnfit(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (isClosing)
      throw new HttpProblem(503, 'closing', 'this process is shutting down; nothing was done', {
        retry_after: RETRY_SECONDS,
      });
    requireOneHost(request);
    refuseEncoded(request, reply);
    done();
  });
}

/** Requires exactly one Host header (RFC 9112 section 3.2); otherwise a proxy might have read a different one. */
function requireOneHost({ raw: { rawHeaders, httpVersion } }: FastifyRequest): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    throw new HttpProblem(400, 'bad_request', `the request has ${hosts} Host headers instead of one`);
}

/** Refuses content codings, with an `Accept-Encoding` header as in RFC 9110 section 15.5.16. */
function refuseEncoded({ headers, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding']?.toLowerCase();
  if (encoding === undefined || encoding === 'identity') return;
  if (encoding === 'gzip' && routeOptions.config.takesGzip === true) return;
  reply.header('accept-encoding', 'identity');
  throw new HttpProblem(415, 'unsupported_encoding', 'request bodies must not have a Content-Encoding');
}

/** Errors of Node's parser, by code: status, our code, and the detail. */
const REFUSED: Record<string, readonly [status: number, code: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'the request line and the headers have more than 64 KiB'],
};
const OTHERS = [400, 'bad_request', 'this is not an HTTP/1.1 request'] as const;

/** Answers an unparsable request with problem details, and closes the connection. */
export function answerParserError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, detail] = REFUSED[error.code] ?? OTHERS;
  const requestId = randomUUID();
  const title = STATUS_CODES[status] ?? 'Error';
  const body = JSON.stringify({ type: 'about:blank', title, status, code, detail, request_id: requestId });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Answers unknown paths with 404, and unsupported methods of known paths with 405 and `Allow`. */
export function answerUnrouted(server: FastifyInstance): void {
  const methods = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const allowed = methods.get(url) ?? new Set();
    for (const each of [method].flat()) allowed.add(each);
    methods.set(url, allowed);
  });
  server.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const found = [...methods].filter(([url]) => leadsTo(url, path)).flatMap(([, allowed]) => [...allowed]);
    const allowed = [...new Set(found)].sort();
    answerProblem(allowed.length > 0 ? refuseMethod(request, reply, allowed) : notFound(request, path), request, reply);
  });
}

/** Reports whether the URL of a route matches a path, with or without a trailing slash. */
function leadsTo(url: string, path: string): boolean {
  const [wanted = [], given = []] = [url, path].map((each) => each.replace(/\/$/, '').split('/'));
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at]);
}

function refuseMethod({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): HttpProblem {
  reply.header('allow', allowed.join(', '));
  return new HttpProblem(405, 'method_not_allowed', `${method} is not allowed here; allowed: ${allowed.join(', ')}`);
}

function notFound({ method }: FastifyRequest, path: string): HttpProblem {
  return new HttpProblem(404, 'not_found', `no route matches ${method} ${path}`);
}
