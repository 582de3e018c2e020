import type { StreamStatus } from '../claims/claim.ts';

/** Result of a run as a whole: the worst result of its parts. */
export type Outcome = StreamStatus;

/** Result of a verification as a whole; `recorded` if only records were read. */
export type VerifiedOutcome = Outcome | 'recorded';

/** Exit codes by outcome. A failed or partial stream counts as incomplete. */
export const EXIT_CODE_OF: Record<VerifiedOutcome, number> = {
  verified: 0,
  collected: 0,
  refuted: 1,
  incomplete: 3,
  empty: 4,
  recorded: 4,
};

/**
 * Returns the worst outcome, from refuted through incomplete, collected and verified to empty; no outcomes at all are
 * empty. A part that is only recorded makes the whole incomplete if other parts were checked, and `recorded` otherwise.
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
