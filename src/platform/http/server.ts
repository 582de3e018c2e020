import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { type FastifyInstance, fastify, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { readExactJson } from './json.ts';
import { type LogLevel, logAnswers, loggerOptions } from './log.ts';
import { type PrincipalOptions, requirePrincipal } from './principal.ts';
import { answerProblem } from './problem.ts';
import { answerParserError, answerUnrouted, refuseUnfit } from './refused-requests.ts';

/** The default limit of a body. */
const BODY_LIMIT = 2 ** 20;

/** A request has to be there after so long. */
const REQUEST_MS = 60_000;

/** An id of 1,024 UTF-16 units, percent-encoded: at most nine characters each. */
const MAX_PARAMETER_LENGTH = 1024 * 9;

/** Room for a request line with five filters of that length, and for the headers. */
const MAX_HEADER_BYTES = 64 * 2 ** 10;

export interface ServerOptions extends PrincipalOptions {
  logLevel: LogLevel;
  /** The target of the log; stderr by default. */
  logTo?: Writable;
  /** Addresses and networks of the proxies that may name the sender of a request. */
  trustedProxies?: readonly string[];
  requestTimeoutMs?: number;
}

/**
 * A Fastify server with what all services share: who asks and what they may, request ids, exact JSON, validation by zod
 * schemas, problem details, and paths that answer with and without a trailing slash.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const { logLevel, logTo, trustedProxies = [], requestTimeoutMs = REQUEST_MS } = options;
  const server: FastifyInstance = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: requestTimeoutMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs / 4,
      // Its absence is answered with problem details.
      requireHostHeader: false,
    },
    return503OnClosing: false,
    clientErrorHandler: answerParserError,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    genReqId: () => randomUUID(),
    logger: loggerOptions(logLevel, logTo),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    frameworkErrors: answerProblem,
  });
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    done();
  });
  logAnswers(server);
  refuseUnfit(server);
  requirePrincipal(server, options);
  answerUnrouted(server);
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  server.setErrorHandler(answerProblem);
  readExactJson(server);
  return server;
}
