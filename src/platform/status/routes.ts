import type { FastifyInstance, FastifyRequest } from 'fastify';
import { plainAddress } from '../../core/address.ts';
import { type Collect, EXPOSITION, toExposition } from '../../core/exposition.ts';
import { DomainError } from '../errors.ts';
import type { MetricsFor } from './metrics-for.ts';
import type { Readiness } from './readiness.ts';

export interface StatusParts {
  readiness: Readiness;
  collect: readonly Collect[];
  metricsFor: MetricsFor;
}

/** Answers those who watch over the process: whether it lives, whether it can answer, and its metrics. */
export async function statusRoutes(
  server: FastifyInstance,
  { readiness, collect, metricsFor }: StatusParts,
): Promise<void> {
  server.get('/health', { config: { public: true } }, async () => ({ status: 'alive' }));

  server.get('/ready', { config: { public: true } }, async (_request, reply) => {
    const checks = await readiness.look();
    const ready = Object.values(checks).every((isFine) => isFine);
    return reply.code(ready ? 200 : 503).send({ ready, checks });
  });

  const config = metricsFor === 'key' ? ({ scope: 'metrics:read' } as const) : { public: true };
  server.get('/metrics', { config }, async (request, reply) => {
    if (metricsFor === 'loopback') requireLoopback(request);
    const families = await Promise.all(collect.map((each) => each()));
    return reply.type(EXPOSITION).send(toExposition(families.flat()));
  });
}

/** Marks of a request that somebody passed on: of whom it is, the socket does not say. */
const PASSED_ON = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** @throws DomainError `forbidden`. */
function requireLoopback({ socket, headers }: FastifyRequest): void {
  const isHere = /^(127\.|::1$)/.test(plainAddress(socket.remoteAddress ?? ''));
  if (!isHere || PASSED_ON.some((name) => headers[name] !== undefined))
    throw new DomainError('forbidden', 'the metrics are read from this machine only');
}
