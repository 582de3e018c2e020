import { whereDefined } from '../core/defined.ts';
import { type ErrorCode, type EvidenceError, insteadOfSameCommand, isEvidenceError } from '../core/errors.ts';
import { describeSkew, readClock } from './clocks.ts';

/** One thing that was looked at before it is needed. */
export interface Check {
  name: string;
  /**
   * `doubtful`: an export is tried all the same. `skipped`: it was not looked at, because it is not configured or
   * something before it failed.
   */
  state: 'ok' | 'doubtful' | 'failed' | 'skipped';
  /** For a failure: the error code that an export would end with. */
  code?: ErrorCode;
  says: string;
  next_step?: string;
}

export function ok(name: string, says: string): Check {
  return { name, state: 'ok', says };
}

/** Returns the check for what is not set up as it must be. */
export function failed(name: string, says: string, nextStep: string): Check {
  return { name, state: 'failed', code: 'config', says, next_step: nextStep };
}

export function doubtful(name: string, says: string, nextStep: string): Check {
  return { name, state: 'doubtful', says, next_step: nextStep };
}

export function skipped(name: string, why: string): Check {
  return { name, state: 'skipped', says: `not looked at: ${why}` };
}

/** Returns the check for an attempt that ended in an error of ours; other errors are thrown on, as is an interruption. */
export async function attempt(name: string, look: () => Promise<Check>): Promise<Check> {
  const [check] = await attemptAll(name, async () => [await look()]);
  return check;
}

/** The same of what is looked at together. @param name of the check that takes the place of all of them. */
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

function toFailure(name: string, { code, message, nextStep }: EvidenceError): Check {
  // Nothing was begun here that could be resumed.
  const next = nextStep === undefined ? undefined : insteadOfSameCommand(nextStep, 'run evidence doctor again');
  return { name, state: 'failed', code, says: message, ...whereDefined({ next_step: next }) };
}

/**
 * This machine's clock beside another one.
 * @param whose completes "the clock of …"
 * @param theirs a Date header; null where there was none.
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
