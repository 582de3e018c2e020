/** The fewest holding cases with which one of fewer than twenty may differ. */
const LEAST = 4;

/**
 * True if something holds for nearly all: for all but one in twenty, or for all but one of a few. One edited entry must
 * not hide what all others show. What is made with a digest cannot hold by chance, so a wrong rule is not accepted.
 */
export function isNearlyAll(holds: number, of: number): boolean {
  const misses = of - holds;
  return misses === 0 || (holds >= LEAST && misses <= Math.max(1, of / 20));
}

/** As `isNearlyAll`, of pairs of neighbours: one altered entry breaks the pair before it and the pair after it. */
export function isNearlyAllPairs(holds: number, of: number): boolean {
  return isNearlyAll(of - Math.ceil((of - holds) / 2), of);
}
