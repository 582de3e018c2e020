import { whereDefined } from '../core/defined.ts';
import { type ErrorCode, type EvidenceError, isEvidenceError, sayNextStep } from '../core/errors.ts';
import { describeSkew, readClock } from './clocks.ts';

/** One condition that the doctor checks before an export needs it. */
export interface Check {
  name: string;
  /**
   * - `doubtful`: an export is attempted all the same.
   * - `skipped`: not checked, because it is not configured or an earlier check failed.
   */
  state: 'ok' | 'doubtful' | 'failed' | 'skipped';
  /** Error code that an export would end with; only for a failure. */
  code?: ErrorCode;
  says: string;
  next_step?: string;
}

export function ok(name: string, says: string): Check {
  return { name, state: 'ok', says };
}

/** Returns a failed check for something that is not set up correctly. */
export function failed(name: string, says: string, nextStep: string): Check {
  return { name, state: 'failed', code: 'config', says, next_step: nextStep };
}

export function doubtful(name: string, says: string, nextStep: string): Check {
  return { name, state: 'doubtful', says, next_step: nextStep };
}

export function skipped(name: string, why: string): Check {
  return { name, state: 'skipped', says: `not looked at: ${why}` };
}

/** Runs one check and turns an EvidenceError into a failed check. Rethrows interruptions and all other errors. */
export async function attempt(name: string, look: () => Promise<Check>): Promise<Check> {
  const [check] = await attemptAll(name, async () => [await look()]);
  return check;
}

/** Runs several checks together, like `attempt`. @param name of the check that replaces all of them on failure. */
export async function attemptAll<Checks extends readonly Check[]>(
  name: string,
  look: () => Promise<Checks>,
): Promise<Checks | [Check]> {
  try {
    return await look();
  } catch (error) {
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
    return [toFailure(name, error)];
  }
}

function toFailure(name: string, { code, message, step }: EvidenceError): Check {
  // The doctor starts nothing that could be resumed, so its next step is to run the doctor again.
  const next = step === undefined ? undefined : sayNextStep(step, 'run evidence doctor again');
  return { name, state: 'failed', code, says: message, ...whereDefined({ next_step: next }) };
}

/**
 * Compares this machine's clock with another clock.
 * @param whose completes "the clock of …"
 * @param theirs a Date header; null if the answer had none.
 */
export function compareClocks(name: string, whose: string, theirs: string | null, ours: Date): Check {
  const reading = readClock(theirs, ours);
  if (reading === null) return skipped(name, `${whose} does not say what time it is`);
  const skew = describeSkew(reading);
  if (skew === null) return ok(name, `as the clock of ${whose}, within a minute`);
  return failed(
    name,
    `this machine's clock is ${skew} that of ${whose}`,
    'Have one time service set both (timedatectl set-ntp true); locks, records and time-stamps depend on it.',
  );
}
