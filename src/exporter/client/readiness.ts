import { setTimeout as sleep } from 'node:timers/promises';
import { EvidenceError } from '../../core/errors.ts';
import type { NotYet } from './call.ts';

const READY_WITHIN_MS = 10 * 60_000;
const POLL_MS = 1000;

/**
 * Asks until there is an answer.
 * @param what is waited for, for the error.
 * @param signal ends the waiting.
 * @throws EvidenceError `unreachable` after ten minutes.
 */
export async function untilReady<T extends object>(
  what: string,
  signal: AbortSignal,
  ask: () => Promise<T | NotYet>,
): Promise<T> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (!('notYet' in answer)) return answer;
    if (Date.now() > deadline) throw new EvidenceError('unreachable', `${what} is still not ready after 10 minutes`);
    await sleep(answer.notYet.retryAfterMs ?? POLL_MS, undefined, { signal });
  }
}
