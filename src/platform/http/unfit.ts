import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It reads bodies with `Content-Encoding: gzip` itself. */
    takesGzip?: boolean;
  }
}

/** After so many seconds a process that takes the place of one that ends should answer. */
const RETRY_SECONDS = 5;

/** Refuses what no route could answer rightly, before anybody asks who sent it. */
export function refuseUnfit(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (isClosing)
      throw new HttpProblem(503, 'closing', 'this process is ending; nothing was done', { retry_after: RETRY_SECONDS });
    requireOneHost(request);
    refuseEncoded(request, reply);
    done();
  });
}

/** RFC 9112 section 3.2: one Host header and no more, or what stands before this server may have read another one. */
function requireOneHost({ raw: { rawHeaders, httpVersion } }: FastifyRequest): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    throw new HttpProblem(400, 'bad_request', `the request has ${hosts} Host headers instead of one`);
}

/** RFC 9110 section 15.5.16: `Accept-Encoding` says what would have been taken. */
function refuseEncoded({ headers, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers['content-encoding']?.toLowerCase();
  if (encoding === undefined || encoding === 'identity') return;
  if (encoding === 'gzip' && routeOptions.config.takesGzip === true) return;
  reply.header('accept-encoding', 'identity');
  throw new HttpProblem(415, 'unsupported_encoding', 'request bodies are taken as they are, without Content-Encoding');
}
