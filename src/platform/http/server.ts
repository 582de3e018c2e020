import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { type FastifyInstance, fastify, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { readExactJson } from './json.ts';
import { type LogLevel, logAnswers, loggerOptions } from './log.ts';
import { type PrincipalOptions, requirePrincipal } from './principal.ts';
import { answerProblem } from './problem.ts';
import { answerParserError, answerUnrouted, refuseUnfit } from './refused-requests.ts';

/** Default limit of a body. */
const BODY_LIMIT = 2 ** 20;

/** Time limit for receiving a request. */
const REQUEST_MS = 60_000;

/** Maximum number of connections of one process; further ones are closed at once. */
const MAX_CONNECTIONS = 4096;

/** RFC 6797: for a year. Other hosts of the domain are not the platform's to decide on. */
const ONLY_HTTPS = 'max-age=31536000';

/** Limit of an id with 1,024 UTF-16 units, percent-encoded in at most nine characters each. */
const MAX_PARAMETER_LENGTH = 1024 * 9;

/** Limit that leaves room for a request line with five filters of that length, and for the headers. */
const MAX_HEADER_BYTES = 64 * 2 ** 10;

export interface ServerOptions extends PrincipalOptions {
  logLevel: LogLevel;
  /** Target of the log; stderr by default. */
  logTo?: Writable;
  /** Addresses and networks of proxies that may state the sender of a request. */
  trustedProxies?: readonly string[];
  /** Public address of the platform; browsers are told to use only https if it is one. */
  publicUrl?: string | null;
  requestTimeoutMs?: number;
}

/**
 * Returns a Fastify server with the features that all services share: authentication and authorization, request ids,
 * exact JSON, validation by zod schemas, problem details, and paths with or without a trailing slash.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const { logLevel, logTo, trustedProxies = [], publicUrl = null, requestTimeoutMs = REQUEST_MS } = options;
  const isSecure = publicUrl?.startsWith('https:') === true;
  const server: FastifyInstance = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: requestTimeoutMs,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs / 4,
      // A missing Host header is answered with problem details instead.
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
  server.server.maxConnections = MAX_CONNECTIONS;
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    if (isSecure && request.protocol === 'https') reply.header('strict-transport-security', ONLY_HTTPS);
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
