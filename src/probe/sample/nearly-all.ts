/** Minimum number of matching cases that allows one exception among fewer than twenty. */
const LEAST = 4;

/**
 * Reports whether something holds for nearly all cases: all but one in twenty, or all but one of a few. A single edited
 * entry must not hide what all others show. Digests never match by chance, so a wrong rule is not accepted.
 */
export function isNearlyAll(holds: number, of: number): boolean {
  const misses = of - holds;
  return misses === 0 || (holds >= LEAST && misses <= Math.max(1, of / 20));
}

/** Reports the same for pairs of neighbors: one altered entry breaks the pair before it and the pair after it. */
export function isNearlyAllPairs(holds: number, of: number): boolean {
  return isNearlyAll(of - Math.ceil((of - holds) / 2), of);
}
