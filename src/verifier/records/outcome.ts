import type { StreamStatus } from '../claims/claim.ts';

/** The result of a run as a whole: the worst of those of its streams. */
export type Outcome = StreamStatus;

/** The result of a verification as a whole; `recorded` where it looked at nothing but records. */
export type VerifiedOutcome = Outcome | 'recorded';

/** Exit codes by outcome; a stream that failed or is partial counts as incomplete. */
export const EXIT_CODE_OF: Record<VerifiedOutcome, number> = {
  verified: 0,
  collected: 0,
  refuted: 1,
  incomplete: 3,
  empty: 4,
  recorded: 4,
};

/**
 * Refuted outweighs incomplete, incomplete outweighs collected, that verified, and that empty: nothing at all is empty too.
 * A part that is only recorded leaves incomplete what was checked otherwise, and by itself nothing was checked.
 */
export function worstOf(outcomes: Iterable<Outcome>): Outcome;
export function worstOf(outcomes: Iterable<VerifiedOutcome>): VerifiedOutcome;
export function worstOf(outcomes: Iterable<VerifiedOutcome>): VerifiedOutcome {
  const all = new Set(outcomes);
  const isChecked = all.has('verified') || all.has('collected');
  if (all.has('refuted')) return 'refuted';
  if (all.has('incomplete')) return 'incomplete';
  if (all.has('recorded')) return isChecked ? 'incomplete' : 'recorded';
  if (all.has('collected')) return 'collected';
  return isChecked ? 'verified' : 'empty';
}
