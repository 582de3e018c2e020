import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../../core/errors.ts';
import { firstCause, outageIn } from '../database/outage.ts';

/** Listener for the failures of a repeated activity. */
export interface FailureListener {
  failed(error: unknown): void;
  /** Called after the first success that follows a failure. */
  recovered(): void;
}

const FIRST_SILENCE_MS = 1000;
const LONGEST_SILENCE_MS = 60_000;

/**
 * Reports the first of successive failures at once, later ones with pauses that grow up to a minute, and the recovery
 * once.
 */
export class FailuresInARow {
  readonly #listener: FailureListener;
  readonly #now: () => number;
  #silence = FIRST_SILENCE_MS;
  /** Time from which the next failure is reported; null without failures. */
  #tellFrom: number | null = null;

  /** @param now monotonic clock in milliseconds. */
  constructor(listener: FailureListener, now: () => number = () => performance.now()) {
    this.#listener = listener;
    this.#now = now;
  }

  failed(error: unknown): void {
    const now = this.#now();
    if (this.#tellFrom !== null && now < this.#tellFrom) return;
    this.#silence = this.#tellFrom === null ? FIRST_SILENCE_MS : Math.min(LONGEST_SILENCE_MS, 2 * this.#silence);
    this.#tellFrom = now + this.#silence;
    this.#listener.failed(error);
  }

  succeeded(): void {
    if (this.#tellFrom === null) return;
    this.#tellFrom = null;
    this.#listener.recovered();
  }
}

/** Returns listeners that log the failures and recoveries of a job. */
export function jobLog(log: FastifyBaseLogger): (job: string) => FailureListener {
  return (job) => ({
    failed: (error) => log.error({ job, reason: reasonOf(error) }, 'a job failed'),
    recovered: () => log.warn({ job }, 'a job recovered'),
  });
}

/** Returns the reason of a failure; in an outage, what the driver says. */
function reasonOf(error: unknown): string {
  return messageOf(outageIn(error) === null ? error : firstCause(error));
}

/** Interval between looks for due work. */
const LOOK_MS = 1000;

/** Repeated activity that can be stopped. */
export interface Looking {
  /** Stops, and resolves when nothing is running. */
  stop(): Promise<void>;
}

/** Calls `lookOnce` now and every second, unless the previous call is still running. */
export function keepLooking(lookOnce: () => Promise<unknown>, listener: FailureListener): Looking {
  const failures = new FailuresInARow(listener);
  let running: Promise<unknown> | null = null;
  const look = () => {
    running ??= lookOnce()
      .then(
        () => failures.succeeded(),
        (error) => failures.failed(error),
      )
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(look, LOOK_MS);
  look();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
