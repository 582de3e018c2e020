import { wait } from '../../core/wait.ts';
import { Pace } from './pace.ts';

/** A 503 may be many things: it speaks of a rate only where there was one. */
const EVIDENCE = new Map([
  [429, 1],
  [503, 10],
]);

/** One pace for all requests to a service: who asks first goes first. */
export class RateLimiter {
  readonly #pace: Pace;
  readonly #signal: AbortSignal;
  #turn: Promise<void> = Promise.resolve();

  constructor(requestsPerSecond: number | null, signal: AbortSignal) {
    this.#pace = new Pace(requestsPerSecond);
    this.#signal = signal;
  }

  /** Waits until a request may leave, and returns when that was. Rejects with the signal's reason. */
  async admit(): Promise<number> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    await before;
    try {
      for (;;) {
        this.#signal.throwIfAborted();
        const now = performance.now();
        const waitMs = this.#pace.take(now);
        if (waitMs === 0) return now;
        await wait(waitMs, this.#signal);
      }
    } finally {
      resolve();
    }
  }

  /** Notes an answer that may say that there were too many requests. */
  answered(status: number, grantedAt: number, retryAfterMs: number | null): void {
    const evidence = EVIDENCE.get(status);
    if (evidence !== undefined) this.#pace.refused(performance.now(), { grantedAt, retryAfterMs, evidence });
  }
}
