import process from 'node:process';
import type { Writable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Returns options for a server's log: a line of JSON for each event, with the id of its request. A request is logged by
 * the pattern of its route, never by its address, headers or body, each of which may contain a token. An error is
 * logged by its message only, because database errors contain values of rows in other members.
 */
export function loggerOptions(level: LogLevel, stream: Writable = process.stderr) {
  return { level, stream, serializers: { req: ofRequest, err: ofError } };
}

/** Logs each answer at `info`. */
export function logAnswers(server: FastifyInstance): void {
  server.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    const { principal } = request;
    const by = principal === null ? {} : { by: `${principal.kind} ${principal.id}` };
    request.log.info({ ...ofRequest(request), status: statusCode, ms: Math.round(elapsedTime), ...by }, 'answered');
    done();
  });
}

function ofRequest({ method, routeOptions }: FastifyRequest): { method: string; route: string } {
  return { method, route: routeOptions?.url ?? 'none' };
}

function ofError({ name, message, stack, code }: Error & { code?: unknown }) {
  return { type: name, message, stack: stack ?? '', ...(typeof code === 'string' ? { code } : {}) };
}
