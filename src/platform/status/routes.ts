import type { FastifyInstance, FastifyRequest } from 'fastify';
import { plainAddress } from '../../core/address.ts';
import { type Collect, EXPOSITION, toExposition } from '../../core/exposition.ts';
import { within } from '../database/within.ts';
import { DomainError } from '../errors.ts';

/** Readers of the metrics: those with a key that has the scope, or requests from this machine. */
export const METRICS_FOR = ['key', 'loopback'] as const;
export type MetricsFor = (typeof METRICS_FOR)[number];

interface StatusParts {
  readiness: Readiness;
  collect: readonly Collect[];
  metricsFor: MetricsFor;
}

/** Serves monitoring: whether the process is alive, whether it is ready, and its metrics. */
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

/** Headers of a forwarded request, whose sender the socket does not reveal. */
const PASSED_ON = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** @throws DomainError `forbidden`. */
function requireLoopback({ socket, headers }: FastifyRequest): void {
  const isHere = /^(127\.|::1$)/.test(plainAddress(socket.remoteAddress ?? ''));
  if (!isHere || PASSED_ON.some((name) => headers[name] !== undefined))
    throw new DomainError('forbidden', 'metrics are available only from this machine');
}

/** Reports whether something that requests depend on works. */
export type ReadinessCheck = () => Promise<boolean>;

/** Time limit of a check, after which it counts as failed. */
const CHECK_MS = 2000;
/** Time for which a result is cached, because anyone may ask as often as they like. */
const KEPT_MS = 1000;

/** Reports whether this process can answer requests, and which checks fail. */
export class Readiness {
  readonly #checks: Readonly<Record<string, ReadinessCheck>>;
  readonly #clock: () => Date;
  #kept: { at: number; answer: Promise<Record<string, boolean>> } | null = null;

  constructor(checks: Readonly<Record<string, ReadinessCheck>>, clock: () => Date) {
    this.#checks = checks;
    this.#clock = clock;
  }

  /** Returns whether each check succeeded, by name. */
  look(): Promise<Record<string, boolean>> {
    const at = this.#clock().getTime();
    if (this.#kept === null || Math.abs(at - this.#kept.at) >= KEPT_MS) this.#kept = { at, answer: this.#lookNow() };
    return this.#kept.answer;
  }

  async #lookNow(): Promise<Record<string, boolean>> {
    const checks = Object.entries(this.#checks);
    const outcomes = await Promise.all(checks.map(([, check]) => inTime(check)));
    return Object.fromEntries(checks.map(([name], at) => [name, outcomes[at] === true]));
  }
}

/** Reports whether a check succeeded within the time limit. */
function inTime(check: ReadinessCheck): Promise<boolean> {
  return within(CHECK_MS, check).catch(() => false);
}
