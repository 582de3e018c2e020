import { EvidenceError } from '../../core/errors.ts';
import { roughly } from '../../core/plurals.ts';
import { wait } from '../../core/wait.ts';
import type { NotYet } from './call.ts';
import { askedToLeave } from './retry.ts';

/** Milliseconds for something to become ready, and the least between two questions. */
export const READINESS = { within: 10 * 60_000, poll: 1000 };

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
