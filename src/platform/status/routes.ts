import type { FastifyInstance, FastifyRequest } from 'fastify';
import { plainAddress } from '../../core/address.ts';
import { type Collect, EXPOSITION, toExposition } from '../../core/exposition.ts';
import { OUTAGES, outageIn } from '../database/outage.ts';
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
    const state = await readiness.look();
    return reply.code(state.ready ? 200 : 503).send(state);
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

/** Looks at something that requests depend on. Returns the reason why it does not work; null if it works. */
export type ReadinessCheck = () => Promise<string | null>;

export interface ReadyState {
  ready: boolean;
  /** True for each check that succeeded. */
  checks: Record<string, boolean>;
  /** Reasons of those that failed, for people. */
  reasons: Record<string, string>;
}

/** Time limit of a check, after which it counts as failed. */
const CHECK_MS = 2000;
/** Time for which a result is cached, because anyone may ask as often as they like. */
const KEPT_MS = 1000;

/** Reports whether this process can answer requests, and which checks fail. */
export class Readiness {
  readonly #checks: Readonly<Record<string, ReadinessCheck>>;
  readonly #clock: () => Date;
  #kept: { at: number; answer: Promise<ReadyState> } | null = null;

  constructor(checks: Readonly<Record<string, ReadinessCheck>>, clock: () => Date) {
    this.#checks = checks;
    this.#clock = clock;
  }

  look(): Promise<ReadyState> {
    const at = this.#clock().getTime();
    if (this.#kept === null || Math.abs(at - this.#kept.at) >= KEPT_MS) this.#kept = { at, answer: this.#lookNow() };
    return this.#kept.answer;
  }

  async #lookNow(): Promise<ReadyState> {
    const named = Object.entries(this.#checks);
    const found = await Promise.all(named.map(async ([name, check]) => [name, await inTime(check)] as const));
    const failed = found.flatMap(([name, reason]) => (reason === null ? [] : [[name, reason] as const]));
    return {
      ready: failed.length === 0,
      checks: Object.fromEntries(found.map(([name, reason]) => [name, reason === null])),
      reasons: Object.fromEntries(failed),
    };
  }
}

/** Returns the reason why a check failed or took too long; null if it succeeded. */
function inTime(check: ReadinessCheck): Promise<string | null> {
  return within(CHECK_MS, check).catch((error: unknown) => {
    const outage = outageIn(error);
    return outage === null ? `no answer within ${CHECK_MS / 1000} seconds, or an error` : OUTAGES[outage];
  });
}
