/** What a run comes to as a whole. */
export type Outcome = 'verified' | 'refuted' | 'incomplete' | 'empty';

/** What a verification comes to as a whole; `recorded` where it looked at nothing but records. */
export type VerifiedOutcome = Outcome | 'recorded';

/** What a stream contributes to it; one that failed or is partial counts as incomplete. */
export const EXIT_CODE_OF: Record<VerifiedOutcome, number> = {
  verified: 0,
  refuted: 1,
  incomplete: 3,
  empty: 4,
  recorded: 4,
};

/**
 * Refuted outweighs incomplete, incomplete outweighs empty: nothing at all is empty too. What is only recorded leaves
 * incomplete what is verified otherwise, and by itself nothing was checked.
 */
export function worstOf(outcomes: Iterable<Outcome>): Outcome;
export function worstOf(outcomes: Iterable<VerifiedOutcome>): VerifiedOutcome;
export function worstOf(outcomes: Iterable<VerifiedOutcome>): VerifiedOutcome {
  const all = new Set(outcomes);
  if (all.has('refuted')) return 'refuted';
  if (all.has('incomplete')) return 'incomplete';
  if (all.has('recorded')) return all.has('verified') ? 'incomplete' : 'recorded';
  return all.has('verified') ? 'verified' : 'empty';
}
