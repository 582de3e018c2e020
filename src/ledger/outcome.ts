/** What a run, or a verification, comes to as a whole. */
export type Outcome = 'verified' | 'refuted' | 'incomplete' | 'empty';

/** What a stream contributes to it; one that failed or is partial counts as incomplete. */
export const EXIT_CODE_OF: Record<Outcome, number> = { verified: 0, refuted: 1, incomplete: 3, empty: 4 };

/** Refuted outweighs incomplete, incomplete outweighs empty: nothing at all is empty too. */
export function worstOf(outcomes: Iterable<Outcome>): Outcome {
  const all = new Set(outcomes);
  if (all.has('refuted')) return 'refuted';
  if (all.has('incomplete')) return 'incomplete';
  return all.has('verified') ? 'verified' : 'empty';
}
