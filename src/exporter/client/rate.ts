import { wait } from '../../core/wait.ts';

/** A 503 may be many things: it speaks of a rate only where there was one. */
const EVIDENCE = new Map([
  [429, 1],
  [503, 10],
]);

/** A pace that several processes keep together. */
export interface SharedRate {
  /**
   * Waits until a request may leave.
   * @param requestsPerSecond of all processes; infinite where nothing is configured.
   */
  admit(origin: string, requestsPerSecond: number): Promise<void>;
  /** Lets no request of any process leave for so long. */
  pause(origin: string, milliseconds: number): void;
}

/** Options of a rate limiter. */
interface RateOptions {
  origin: string;
  requestsPerSecond: number | null;
  /** Null where this process alone asks the service. */
  sharedRate: SharedRate | null;
  signal: AbortSignal;
}

/** One pace for all requests to a service: who asks first goes first. */
export class RateLimiter {
  readonly #pace: Pace;
  readonly #options: RateOptions;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: RateOptions) {
    this.#pace = new Pace(options.requestsPerSecond);
    this.#options = options;
  }

  /** Waits until a request may leave, and returns when that was. Rejects with the signal's reason. */
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

  /** Notes an answer that may say that there were too many requests. */
  answered(status: number, grantedAt: number, retryAfterMs: number | null): void {
    const evidence = EVIDENCE.get(status);
    if (evidence === undefined) return;
    if (retryAfterMs !== null) this.#options.sharedRate?.pause(this.#options.origin, retryAfterMs);
    this.#pace.refused(performance.now(), { grantedAt, retryAfterMs, evidence });
  }
}

/** A configured rate is kept below by this, because the network does not keep the distance of two requests. */
const MARGIN = 0.97;

/** The rate that is kept where one is configured; infinite where none is. */
function keptBelow(requestsPerSecond: number | null): number {
  return requestsPerSecond === null ? Number.POSITIVE_INFINITY : requestsPerSecond * MARGIN;
}

/** The part of a ceiling that is kept once a request was refused at it. */
const DECREASE = 0.9;
/** The part of the ceiling that is added to that in a second: it is tried again every 20 seconds. */
const INCREASE = 0.005;
/** The stretch of time in which a service is taken to count. */
const SHORTEST_WINDOW_MS = 1000;
const LONGEST_WINDOW_MS = 60_000;
/** Times of requests that are remembered. */
const MEMORY = 10_000;

interface RateRefusal {
  /** When the refused request was let go. */
  grantedAt: number;
  /** The time for which the service wants to be left alone; null when it does not say. */
  retryAfterMs: number | null;
  /** Number of accepted requests that must precede a refusal for it to say something about a rate. */
  evidence: number;
}

/** Requests per second at which the service refuses, and since when we stay below. */
interface Ceiling {
  rate: number;
  since: number;
  /** The newest request when it was learned: refusals up to there belong to the same event. */
  newestAt: number;
  /** True if requests were spaced before it. */
  spaced: boolean;
}

/**
 * When the next request may leave: a token bucket that holds one token, so that requests are spaced evenly, and whose
 * rate is configured, learned from refusals, or neither, and then there is no bucket. Additive increase, multiplicative
 * decrease: a refusal takes a tenth of the rate away, and every second gives a little back.
 *
 * All times are milliseconds of one monotonic clock, which the caller reads.
 */
export class Pace {
  readonly #configured: number;
  readonly #grants: number[] = [];
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #ceiling: Ceiling | null = null;

  /** @param requestsPerSecond is never exceeded; null where nothing is known. */
  constructor(requestsPerSecond: number | null) {
    this.#configured = keptBelow(requestsPerSecond);
  }

  /** Lets a request go and returns 0, or the milliseconds after which to ask again. */
  take(now: number): number {
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    const newest = this.#grants.at(-1) ?? Number.NEGATIVE_INFINITY;
    const next = newest + 1000 / this.rate(now);
    if (now < next) return next - now;
    this.#grants.push(now);
    if (this.#grants.length > 2 * MEMORY) this.#grants.splice(0, MEMORY);
    return 0;
  }

  /** Requests per second at this time; infinite when nothing holds them back. */
  rate(now: number): number {
    if (this.#ceiling === null) return this.#configured;
    const { rate, since } = this.#ceiling;
    const seconds = Math.max(0, now - since) / 1000;
    return Math.min(this.#configured, rate * (DECREASE + INCREASE * seconds));
  }

  /** A request was turned away because there were too many. */
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
   * Requests per second that were not refused before the refusal. The window is as long as the service wants to be
   * left alone: one that allows a hundred a minute says so by that. Spaced requests are one short of their rate when
   * the next one is the one too many.
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
