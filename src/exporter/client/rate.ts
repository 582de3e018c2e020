import { wait } from '../../core/wait.ts';

/**
 * Minimum number of accepted requests before a status counts as a rate limit. A 503 has many causes, so it needs more
 * evidence.
 */
const EVIDENCE = new Map([
  [429, 1],
  [503, 10],
]);

/** Pace that several processes share. */
export interface SharedRate {
  /**
   * Waits until a request may be sent.
   * @param requestsPerSecond of all processes together; infinite if none is configured.
   */
  admit(origin: string, requestsPerSecond: number): Promise<void>;
  /** Stops the requests of all processes for this time. */
  pause(origin: string, milliseconds: number): void;
}

/** Options of a rate limiter. */
interface RateOptions {
  origin: string;
  requestsPerSecond: number | null;
  /** Rate shared with other processes; null if this process alone sends requests to the service. */
  sharedRate: SharedRate | null;
  signal: AbortSignal;
}

/** Paces all requests to a service, first come, first served. */
export class RateLimiter {
  readonly #pace: Pace;
  readonly #options: RateOptions;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: RateOptions) {
    this.#pace = new Pace(options.requestsPerSecond);
    this.#options = options;
  }

  /** Waits until a request may be sent, and returns the time. Rejects with the signal's reason. */
  async admit(): Promise<number> {
    const before = this.#turn;
    const { origin, requestsPerSecond, sharedRate, signal } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    await before;
    try {
      await sharedRate?.admit(origin, keptBelow(requestsPerSecond));
      for (;;) {
        signal.throwIfAborted();
        const now = performance.now();
        const waitMs = this.#pace.take(now);
        if (waitMs === 0) return now;
        await wait(waitMs, signal);
      }
    } finally {
      resolve();
    }
  }

  /** Records an answer that may mean that there were too many requests. */
  answered(status: number, grantedAt: number, retryAfterMs: number | null): void {
    const evidence = EVIDENCE.get(status);
    if (evidence === undefined) return;
    if (retryAfterMs !== null) this.#options.sharedRate?.pause(this.#options.origin, retryAfterMs);
    this.#pace.refused(performance.now(), { grantedAt, retryAfterMs, evidence });
  }
}

/**
 * Factor for configured rates: the rate is kept slightly lower, because the network changes the spacing of requests.
 */
const MARGIN = 0.97;

/** Returns the rate to keep for a configured rate; infinite if none is configured. */
function keptBelow(requestsPerSecond: number | null): number {
  return requestsPerSecond === null ? Number.POSITIVE_INFINITY : requestsPerSecond * MARGIN;
}

/** Fraction of a ceiling that is kept after a request at it was refused. */
const DECREASE = 0.9;
/** Fraction of the ceiling that is regained each second, so that the ceiling is tried again every 20 seconds. */
const INCREASE = 0.005;
/** Bounds of the window over which a service is assumed to count requests. */
const SHORTEST_WINDOW_MS = 1000;
const LONGEST_WINDOW_MS = 60_000;
/** Number of request times that are remembered. */
const MEMORY = 10_000;

interface RateRefusal {
  /** Time at which the refused request was admitted. */
  grantedAt: number;
  /** Time for which the service asks to wait; null if it does not state one. */
  retryAfterMs: number | null;
  /** Number of accepted requests that must precede a refusal before it counts as a rate limit. */
  evidence: number;
}

/** Rate at which the service refused, and the time since which requests stay below it. */
interface Ceiling {
  rate: number;
  since: number;
  /**
   * Time of the newest request when the ceiling was learned. Refusals of requests up to then belong to the same event.
   */
  newestAt: number;
  /** True if requests were already spaced before. */
  spaced: boolean;
}

/**
 * Decides when the next request may be sent: a token bucket with a single token, so that requests are evenly spaced.
 * Its rate is configured or learned from refusals; without either, there is no bucket. Additive increase,
 * multiplicative decrease: a refusal reduces the rate by a tenth, and every second restores a little.
 *
 * All times are milliseconds of one monotonic clock, which the caller reads.
 */
export class Pace {
  readonly #configured: number;
  readonly #grants: number[] = [];
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #ceiling: Ceiling | null = null;

  /** @param requestsPerSecond is never exceeded; null if unknown. */
  constructor(requestsPerSecond: number | null) {
    this.#configured = keptBelow(requestsPerSecond);
  }

  /** Admits a request and returns 0, or returns the milliseconds after which to ask again. */
  take(now: number): number {
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    const newest = this.#grants.at(-1) ?? Number.NEGATIVE_INFINITY;
    const next = newest + 1000 / this.rate(now);
    if (now < next) return next - now;
    this.#grants.push(now);
    if (this.#grants.length > 2 * MEMORY) this.#grants.splice(0, MEMORY);
    return 0;
  }

  /** Returns the requests per second at this time; infinite if there is no limit. */
  rate(now: number): number {
    if (this.#ceiling === null) return this.#configured;
    const { rate, since } = this.#ceiling;
    const seconds = Math.max(0, now - since) / 1000;
    return Math.min(this.#configured, rate * (DECREASE + INCREASE * seconds));
  }

  /** Records that a request was refused because there were too many. */
  refused(now: number, { grantedAt, retryAfterMs, evidence }: RateRefusal): void {
    const at = this.#grants.lastIndexOf(grantedAt);
    if (at >= 0) this.#grants.splice(at, 1);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + (retryAfterMs ?? 0));
    const known = this.#ceiling;
    const sameEvent = known !== null && grantedAt <= known.newestAt;
    const spaced = sameEvent ? known.spaced : Number.isFinite(this.rate(now));
    const observed = this.#observed(retryAfterMs ?? 0, evidence, spaced);
    if (observed === null) return;
    const since = Math.max(now, this.#pausedUntil);
    if (sameEvent) {
      this.#ceiling = { ...known, since, rate: Math.min(known.rate, observed) };
      return;
    }
    const rate = Math.min(this.rate(now), observed);
    this.#ceiling = { rate, since, newestAt: Math.max(grantedAt, this.#grants.at(-1) ?? grantedAt), spaced };
  }

  /**
   * Returns the rate of accepted requests before the refusal. The window is the time that the service asks to wait: a
   * service that allows a hundred requests a minute reveals its window that way. Spaced requests are one short of the
   * rate, because the refused request would have been the next.
   */
  #observed(retryAfterMs: number, evidence: number, spaced: boolean): number | null {
    const window = Math.min(Math.max(retryAfterMs, SHORTEST_WINDOW_MS), LONGEST_WINDOW_MS);
    const newest = this.#grants.at(-1);
    if (newest === undefined) return null;
    const first = this.#grants.findIndex((at) => at > newest - window);
    const accepted = this.#grants.length - first;
    return accepted < evidence ? null : ((spaced ? accepted + 1 : accepted) * 1000) / window;
  }
}
