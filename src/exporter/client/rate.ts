import { wait } from '../../core/wait.ts';
import { keptBelow, Pace } from './pace.ts';

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
export interface RateOptions {
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
