import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../../core/errors.ts';

/** Hears about the failures of something that is tried again and again. */
export interface FailureListener {
  failed(error: unknown): void;
  /** After it failed: it goes well again. */
  recovered(): void;
}

const FIRST_SILENCE_MS = 1000;
const LONGEST_SILENCE_MS = 60_000;

/** Tells of failures in a row at once, then with pauses that grow up to a minute, and once of the end of them. */
export class FailuresInARow {
  readonly #listener: FailureListener;
  readonly #now: () => number;
  #silence = FIRST_SILENCE_MS;
  /** When the next one is told; null while all goes well. */
  #tellFrom: number | null = null;

  /** @param now of a clock that nobody sets back, in milliseconds. */
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

/** Logs that a job failed, or succeeds again. */
export function jobLog(log: FastifyBaseLogger): (job: string) => FailureListener {
  return (job) => ({
    failed: (error) => log.error({ job, reason: messageOf(error) }, 'a job failed'),
    recovered: () => log.warn({ job }, 'a job goes on'),
  });
}

/** The time between looks at whether something is due. */
const LOOK_MS = 1000;

/** A function that looks again and again. */
export interface Looking {
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** Looks now and every second, unless it still does what it found the last time. */
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
