import { setTimeout as sleep } from 'node:timers/promises';
import type { EvidenceError } from '../../core/errors.ts';

/** The longest that a timer of Node can wait, 24 days; it takes more than that for nothing at all. */
const MAX_WAIT_MS = 2 ** 31 - 1;
/** Attempts that a call has in all, however small the progress of each, and bytes that earn it one more. */
const MAX_ATTEMPTS = 100;
const BYTES_PER_ATTEMPT = 2 ** 20;

/** What an attempt came to, when not to a result. */
export interface AttemptFailure {
  error: EvidenceError;
  retry: boolean;
  /** What the service asked for. */
  waitMs?: number | null;
}

/** Counts the attempts of one call. */
export class Attempts {
  readonly #allowed: number;
  readonly #trace: ((line: string) => void) | undefined;
  #count = 0;
  #fruitless = 0;
  #furthest = 0;

  /** @param allowed how many may follow each other without progress. @param trace is told of every wait. */
  constructor(allowed: number, trace?: (line: string) => void) {
    this.#allowed = allowed;
    this.#trace = trace;
  }

  /** How often it was tried so far. */
  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count++;
    this.#fruitless++;
  }

  /**
   * Waits for the next attempt, if there is to be one.
   * @param reached how many bytes are there now; more than ever before is progress.
   * @throws the error of the failure when it is final.
   */
  async next(failure: AttemptFailure, signal: AbortSignal, reached = 0): Promise<void> {
    if (reached > this.#furthest) {
      this.#furthest = reached;
      this.#fruitless = 0;
    }
    const inAll = MAX_ATTEMPTS + Math.floor(this.#furthest / BYTES_PER_ATTEMPT);
    const waitMs = failure.waitMs ?? Math.ceil(backoff(this.#fruitless));
    if (!failure.retry || !canWait(waitMs) || this.#fruitless >= this.#allowed || this.#count >= inAll)
      throw failure.error;
    this.#trace?.(`attempt ${this.#count} came to nothing; the next one in ${waitMs} ms`);
    await wait(waitMs, signal);
  }
}

/** Full jitter: anything from nothing to 250 ms, 500 ms, 1 s, … at most 10 s; half of the first after progress. */
function backoff(fruitless: number): number {
  return Math.random() * Math.min(10_000, 250 * 2 ** (fruitless - 1));
}

/** Whether there is a timer for so many milliseconds. */
export function canWait(milliseconds: number): boolean {
  return milliseconds <= MAX_WAIT_MS;
}

/** Rejects with the signal's own reason. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(Math.ceil(milliseconds), undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
