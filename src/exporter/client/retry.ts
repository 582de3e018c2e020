import { EvidenceError } from '../../core/errors.ts';
import { plural, roughly } from '../../core/plurals.ts';
import { wait } from '../../core/wait.ts';
import type { NotYet } from './call.ts';

/** Attempts that a call has in all, however small the progress of each, and bytes that earn it one more. */
const MAX_ATTEMPTS = 100;
const BYTES_PER_ATTEMPT = 2 ** 20;
/** A shorter attempt may bring as little as it likes: a hundred of them take no time. */
const QUICK_MS = 5000;
/** A shorter wait is not worth a line. */
const TOLD_FROM_MS = 5000;
/** Timers fire up to a millisecond early: with less time left, a call has none. */
const LEAST_MS = 1;
const YEAR_MS = 365 * 86_400_000;

/** The failure of an attempt. */
export interface AttemptFailure {
  error: EvidenceError;
  retry: boolean;
  /** The wait that the service asked for. */
  waitMs?: number | null;
}

/** Bounds of one call: of all attempts and waits together. */
export interface CallLimits {
  /** Attempts that may follow each other without progress. */
  attempts: number;
  /** Milliseconds that the attempts may take together, waits apart. */
  callMs: number;
  /** An attempt that brought less made no progress. */
  bytesPerSecond: number;
  /** Milliseconds that the service can make a call wait by Retry-After: at a time, and in all. */
  waits: { longest: number; inAll: number };
  /** Receives a line for every failed attempt. */
  trace?: ((line: string) => void) | undefined;
  /** Receives a line for every wait that somebody at a terminal would wonder about. */
  onWait?: ((line: string) => void) | undefined;
}

/** Counts and times the attempts of one call. */
export class Attempts {
  readonly #limits: CallLimits;
  #count = 0;
  #fruitless = 0;
  #furthest = 0;
  #waitedMs = 0;
  /** The time of attempts that have ended. */
  #spentMs = 0;
  /** When the attempt that is under way sent its request; null before. */
  #sentAt: number | null = null;

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  /** The number of tries so far. */
  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count++;
    this.#fruitless++;
    this.#sentAt = null;
  }

  /** Starts the clock of an attempt: call it when the request leaves. @returns the milliseconds that are left. */
  sent(): number {
    this.#sentAt ??= performance.now();
    return Math.max(0, this.#limits.callMs - this.#spentMs - (performance.now() - this.#sentAt));
  }

  /**
   * Waits for the next attempt, if there is to be one.
   * @param reached how many bytes are there now.
   * @throws the error of the failure when it is final; one that says when to come back where the service asks for a
   * longer wait than it is given.
   */
  async next(failure: AttemptFailure, signal: AbortSignal, reached = 0): Promise<void> {
    const { attempts, callMs, waits, trace, onWait } = this.#limits;
    this.#noteEnd(reached);
    const inAll = MAX_ATTEMPTS + Math.floor(this.#furthest / BYTES_PER_ATTEMPT);
    const isSpent = this.#fruitless >= attempts || this.#count >= inAll || this.#spentMs > callMs - LEAST_MS;
    const asked = failure.waitMs ?? 0;
    if (failure.retry && (asked > waits.longest || (!isSpent && this.#waitedMs + asked > waits.inAll)))
      throw askedToLeave(failure.error, asked);
    if (!failure.retry || isSpent) throw failure.error;
    const waitMs = Math.max(asked, Math.ceil(backoff(this.#fruitless)));
    this.#waitedMs += asked;
    trace?.(`attempt ${this.#count} came to nothing; the next one in ${waitMs} ms`);
    if (asked >= TOLD_FROM_MS) onWait?.(describeWait(failure.error, asked));
    await wait(waitMs, signal);
  }

  /** Progress is more bytes than ever before, and in a long attempt as many as its time should have brought. */
  #noteEnd(reached: number): void {
    const tookMs = this.#sentAt === null ? 0 : performance.now() - this.#sentAt;
    this.#spentMs += tookMs;
    const gained = reached - this.#furthest;
    if (gained > 0 && (tookMs < QUICK_MS || gained >= (this.#limits.bytesPerSecond * tookMs) / 1000))
      this.#fruitless = 0;
    this.#furthest = Math.max(this.#furthest, reached);
  }
}

/** Full jitter: anything from nothing to 250 ms, 500 ms, 1 s, … at most 10 s; half of the first after progress. */
function backoff(fruitless: number): number {
  return Math.random() * Math.min(10_000, 250 * 2 ** (fruitless - 1));
}

function describeWait({ message }: EvidenceError, askedMs: number): string {
  const until = new Date(Date.now() + askedMs).toISOString().slice(11, 19);
  const seconds = plural(Math.ceil(askedMs / 1000), 'second');
  return `${message}; it asks for a wait of ${seconds} (Retry-After): going on at ${until} UTC`;
}

/** The error for a service that asks for a longer wait than it is given. */
function askedToLeave({ message }: EvidenceError, askedMs: number): EvidenceError {
  if (askedMs > YEAR_MS)
    return new EvidenceError('unreachable', `${message}; it asks to come back in more than a year (Retry-After)`, {
      nextStep: 'Ask the operator of the service, then run the same command again to resume.',
    });
  const at = `${new Date(Date.now() + askedMs).toISOString().slice(0, 19)}Z`;
  return new EvidenceError('unreachable', `${message}; it asks to come back at ${at} (Retry-After)`, {
    nextStep: `Run the same command again after ${at} to resume.`,
  });
}

/** Milliseconds for something to become ready, and the least between two questions. */
const READINESS = { within: 10 * 60_000, poll: 1000 };

/**
 * Asks until there is an answer. A service that asks for longer waits is asked less often, never for longer.
 * @param what is waited for, for the error.
 * @param signal ends the waiting.
 * @throws EvidenceError `unreachable` when the time is over, or would be before the service wants to be asked again.
 */
export async function untilReady<T extends object>(
  what: string,
  signal: AbortSignal,
  ask: () => Promise<T | NotYet>,
  { within, poll } = READINESS,
): Promise<T> {
  const deadline = performance.now() + within;
  for (;;) {
    const answer = await ask();
    if (!('notYet' in answer)) return answer;
    const asked = answer.notYet.retryAfterMs ?? 0;
    const left = deadline - performance.now();
    if (Math.max(asked, poll) > left) {
      const late = new EvidenceError('unreachable', `${what} is not ready within ${roughly(within / 1000)}`, {
        nextStep: 'Run the same command again to resume; if it stays, ask the operator of the service.',
      });
      throw asked > poll ? askedToLeave(late, asked) : late;
    }
    await wait(Math.max(asked, poll), signal);
  }
}
