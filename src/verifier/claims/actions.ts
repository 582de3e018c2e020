import type { CountedActions } from '../chain/actions.ts';
import type { SummaryFacts } from '../reading/contract.ts';
import { cutWord } from '../reading/entry-words.ts';
import type { ActionCounts } from './claim.ts';

/** Named one by one; all others are counted together. */
const NAMED = 20;

/** Differences between the actions that a summary states and those that were counted in entries. */
interface ActionsComparison {
  /** Actions of which it states another number than entries have. */
  differing: { action: string; stated: number; counted: number }[];
  /** Entries whose action it does not name. */
  unnamed: number;
}

/** The actions of a stream, as its entries have them; null where its summary states none, or they were not counted. */
export function toActionCounts(summary: SummaryFacts | null, counted: CountedActions): ActionCounts | null {
  if (counted === null || statedActions(summary) === null) return null;
  const sorted = [...counted].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return { counts: sorted.slice(0, NAMED), others: sumOf(sorted.slice(NAMED).map(([, count]) => count)) };
}

/** @param counted null where nobody counted: then nothing differs. */
export function compareActions(summary: SummaryFacts | null, counted: CountedActions): ActionsComparison {
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

/** By name, cut as those of entries are; null for a summary that does not say. One that lists none says so of no entries. */
function statedActions(summary: SummaryFacts | null): ReadonlyMap<string, number> | null {
  const actions = summary?.actions ?? null;
  if (actions === null || (actions.length === 0 && summary?.entryCount !== 0)) return null;
  const stated = new Map<string, number>();
  for (const [name, count] of actions) stated.set(cutWord(name), (stated.get(cutWord(name)) ?? 0) + count);
  return stated;
}

/** True where entries are to be counted by their action: a summary says how many have which. */
export function statesActions(summary: SummaryFacts | null): boolean {
  return statedActions(summary) !== null;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
