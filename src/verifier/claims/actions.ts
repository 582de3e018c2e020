import type { SummaryFacts } from '../reading/contract.ts';
import type { ActionCounts } from './claim.ts';

/** Named one by one; all others are counted together. */
const NAMED = 20;

/**
 * The actions of a stream as its summary counts them: the service's word, which is repeated only where its counts add
 * up to the entries that there are.
 * @param entries counted by us.
 */
export function countActions(summary: SummaryFacts | null, entries: number): ActionCounts | null {
  const actions = summary?.actions ?? null;
  if (actions === null || sumOf(actions) !== entries) return null;
  const sorted = actions.toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return { counts: sorted.slice(0, NAMED), others: sumOf(sorted.slice(NAMED)) };
}

function sumOf(actions: SummaryFacts['actions'] & {}): number {
  return actions.reduce((sum, [, count]) => sum + count, 0);
}
