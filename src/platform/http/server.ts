import { randomUUID } from 'node:crypto';
import { type FastifyInstance, fastify } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { readExactJson } from './json.ts';
import { type Authenticate, requirePrincipal } from './principal.ts';
import { answerNotFound, answerProblem } from './problem.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const BODY_LIMIT = 32 * 2 ** 20;

/** An id of 1,024 UTF-16 units, percent-encoded: at most nine characters each. */
const MAX_PARAMETER_LENGTH = 1024 * 9;

/** Room for a request line with five filters of that length, and for the headers. */
const MAX_HEADER_BYTES = 64 * 2 ** 10;

export interface ServerOptions {
  logLevel: LogLevel;
  authenticate: Authenticate;
}

/**
 * A Fastify server with what all services share: who asks and what they may, request ids, exact JSON, validation by zod schemas, problem details,
 * and paths that answer with and without a trailing slash. The log goes to stderr and never contains headers.
 */
export function createServer({ logLevel, authenticate }: ServerOptions): FastifyInstance {
  const server: FastifyInstance = fastify({
    bodyLimit: BODY_LIMIT,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    genReqId: () => randomUUID(),
    logger: { level: logLevel, stream: process.stderr },
    frameworkErrors: answerProblem,
  });
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  requirePrincipal(server, authenticate);
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  server.setErrorHandler(answerProblem);
  server.setNotFoundHandler(answerNotFound);
  readExactJson(server);
  return server;
}
