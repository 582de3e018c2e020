import type { CountedActions } from '../chain/actions.ts';
import type { SummaryFacts } from '../reading/contract.ts';
import { cutWord } from '../reading/entry-words.ts';
import type { ActionCounts } from './claim.ts';

/** Maximum number of actions listed by name; the others are counted together. */
const NAMED = 20;

/**
 * Returns the actions of a stream as counted in its entries; null if its summary states none or they were not counted.
 */
export function toActionCounts(summary: SummaryFacts | null, counted: CountedActions): ActionCounts | null {
  if (counted === null || statedActions(summary) === null) return null;
  const sorted = [...counted].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return { counts: sorted.slice(0, NAMED), others: sumOf(sorted.slice(NAMED).map(([, count]) => count)) };
}

/**
 * Returns the actions for which a summary states another number than the entries have, and the number of entries whose
 * action it does not list.
 * @param counted null if actions were not counted: nothing differs then.
 */
export function compareActions(summary: SummaryFacts | null, counted: CountedActions) {
  const stated = statedActions(summary);
  if (stated === null || stated.size === 0 || counted === null) return { differing: [], unnamed: 0 };
  const differing = [...stated]
    .map(([action, count]) => ({ action, stated: count, counted: counted.get(action) ?? 0 }))
    .filter((one) => one.stated !== one.counted);
  return {
    differing,
    unnamed: sumOf([...counted].filter(([action]) => !stated.has(action)).map(([, count]) => count)),
  };
}

/**
 * Returns the stated numbers by action, with names truncated like those of entries; null if the summary states none. An
 * empty list counts only if there are no entries.
 */
function statedActions(summary: SummaryFacts | null): ReadonlyMap<string, number> | null {
  const actions = summary?.actions ?? null;
  if (actions === null || (actions.length === 0 && summary?.entryCount !== 0)) return null;
  const stated = new Map<string, number>();
  for (const [name, count] of actions) stated.set(cutWord(name), (stated.get(cutWord(name)) ?? 0) + count);
  return stated;
}

/** Reports whether a summary states numbers of actions, so that entries must be counted by action. */
export function statesActions(summary: SummaryFacts | null): boolean {
  return statedActions(summary) !== null;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
