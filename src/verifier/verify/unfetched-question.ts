import type { Verification } from '../bundle/documents.ts';
import { lastFetched, newestEnd } from '../claims/unfetched.ts';
import type { Description } from '../profile/description.ts';

/**
 * States why `unfetched` is not what an export would have asked; null where it is. Entries are asked for if
 *
 * - the package was compared with a listing, and the contract can ask for the entries after a number;
 * - an earlier run had the stream;
 * - the list of streams states entries beyond those of all exports;
 * - some export has a period that ends.
 */
export function whyNotAsked(stated: Verification, { entries, entry }: Description): string | null {
  const { unfetched, earlier, statement, completeness, package_period, verdict } = stated;
  const { first_sequence: first, head } = verdict;
  const own = first === null || head === null ? null : { first, last: head.sequence };
  const after = lastFetched(own, earlier) ?? entry.first_sequence - 1;
  const to = statement.head.sequence;
  if (unfetched !== null) {
    const isRight = unfetched.after === after && unfetched.to === to;
    return isRight ? null : `says that entries after ${unfetched.after} were asked for, and exports end at ${after}`;
  }
  const canAsk = completeness.kind === 'listing' && entries?.after_parameter != null && earlier.length > 0;
  const isBeyond = to !== null && to > after && statement.entries !== 0;
  const hasEnd = newestEnd([package_period, ...earlier.map(({ period }) => period)]) !== null;
  if (!canAsk || !isBeyond || !hasEnd) return null;
  return `states entries up to ${to}, of which no export has those after ${after}, and does not say that they were asked for`;
}
