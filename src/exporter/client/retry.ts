import { EvidenceError } from '../../core/errors.ts';
import { plural, roughly } from '../../core/plurals.ts';
import { wait } from '../../core/wait.ts';
import type { NotYet } from './call.ts';

/** Maximum number of attempts of a call, even with progress, and number of bytes that earn one more attempt. */
const MAX_ATTEMPTS = 100;
const BYTES_PER_ATTEMPT = 2 ** 20;
/** Duration below which any gain counts as progress: a hundred such attempts take little time. */
const QUICK_MS = 5000;
/** Minimum wait that is reported. */
const TOLD_FROM_MS = 5000;
/** Remaining time below which a call is over, because timers fire up to a millisecond early. */
const LEAST_MS = 1;
const YEAR_MS = 365 * 86_400_000;

/** Failure of an attempt. */
export interface AttemptFailure {
  error: EvidenceError;
  retry: boolean;
  /** Wait that the service asked for. */
  waitMs?: number | null;
}

/** Limits of one call, over all its attempts and waits. */
export interface CallLimits {
  /** Maximum number of consecutive attempts without progress. */
  attempts: number;
  /** Maximum milliseconds of all attempts together, without waits. */
  callMs: number;
  /** Rate below which an attempt made no progress. */
  bytesPerSecond: number;
  /** Maximum wait in milliseconds that a service can impose on a call by Retry-After: each time, and in total. */
  waits: { longest: number; inAll: number };
  /** Receives a line for every failed attempt. */
  trace?: ((line: string) => void) | undefined;
  /** Receives a line for every wait that a person at a terminal would notice. */
  onWait?: ((line: string) => void) | undefined;
}

/** Counts and times the attempts of one call. */
export class Attempts {
  readonly #limits: CallLimits;
  #count = 0;
  #fruitless = 0;
  #furthest = 0;
  #waitedMs = 0;
  /** Duration of attempts that have ended. */
  #spentMs = 0;
  /** Time at which the current attempt sent its request; null before. */
  #sentAt: number | null = null;

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  /** Number of attempts so far. */
  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count++;
    this.#fruitless++;
    this.#sentAt = null;
  }

  /** Starts the clock of an attempt; call it when the request is sent. @returns the milliseconds that are left. */
  sent(): number {
    this.#sentAt ??= performance.now();
    return Math.max(0, this.#limits.callMs - this.#spentMs - (performance.now() - this.#sentAt));
  }

  /**
   * Waits for the next attempt, if there is one.
   * @param reached number of bytes received so far.
   * @throws the failure's error if it is final; an error that says when to come back if the service asks for too long a
   * wait.
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
    trace?.(`attempt ${this.#count} failed; retrying in ${waitMs} ms`);
    if (asked >= TOLD_FROM_MS) onWait?.(describeWait(failure.error, asked));
    await wait(waitMs, signal);
  }

  /**
   * Records the end of an attempt. Progress means more bytes than ever before and, in a long attempt, at least the
   * minimum rate.
   */
  #noteEnd(reached: number): void {
    const tookMs = this.#sentAt === null ? 0 : performance.now() - this.#sentAt;
    this.#spentMs += tookMs;
    const gained = reached - this.#furthest;
    if (gained > 0 && (tookMs < QUICK_MS || gained >= (this.#limits.bytesPerSecond * tookMs) / 1000))
      this.#fruitless = 0;
    this.#furthest = Math.max(this.#furthest, reached);
  }
}

/** Returns a wait with full jitter: from zero to 250 ms, 500 ms, 1 s, … up to 10 s; up to 125 ms after progress. */
function backoff(fruitless: number): number {
  return Math.random() * Math.min(10_000, 250 * 2 ** (fruitless - 1));
}

function describeWait({ message }: EvidenceError, askedMs: number): string {
  const until = new Date(Date.now() + askedMs).toISOString().slice(11, 19);
  const seconds = plural(Math.ceil(askedMs / 1000), 'second');
  return `${message}; it requests a wait of ${seconds} (Retry-After); resuming at ${until} UTC`;
}

/** Returns the error for a service that asks for a longer wait than allowed. */
function askedToLeave({ message }: EvidenceError, askedMs: number): EvidenceError {
  if (askedMs > YEAR_MS)
    return new EvidenceError('unreachable', `${message}; it requests a wait of more than a year (Retry-After)`, {
      nextStep: { before: 'Ask the operator of the service, then', same: ' to resume' },
    });
  const at = `${new Date(Date.now() + askedMs).toISOString().slice(0, 19)}Z`;
  return new EvidenceError('unreachable', `${message}; it requests a wait until ${at} (Retry-After)`, {
    nextStep: { after: ` after ${at} to resume` },
  });
}

/** Milliseconds for a resource to become ready, and minimum interval between two requests. */
const READINESS = { within: 10 * 60_000, poll: 1000 };

/**
 * Polls until there is an answer. If the service asks for longer waits, it is polled less often, but not for longer.
 * @param what resource, for the error.
 * @param signal ends the waiting.
 * @throws EvidenceError `unreachable` if the time is up, or would be up before the service may be asked again.
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
      const late = new EvidenceError('unreachable', `${what} was not ready within ${roughly(within / 1000)}`, {
        nextStep: { same: ' to resume', after: '; if the error persists, ask the operator of the service' },
      });
      throw asked > poll ? askedToLeave(late, asked) : late;
    }
    await wait(Math.max(asked, poll), signal);
  }
}
