import type { Abandonment } from '../records/record.ts';
import type { LedgerEnd } from './end.ts';
import { type LedgerEntry, runOf } from './ledger.ts';

/** Runs that a ledger names. */
export type Names = Pick<LedgerEnd, 'runs' | 'abandoned'>;

/** Fate of a run that the ledger does not record and that was given up: it is no evidence. */
export type GivenUp =
  | { kind: 'abandoned'; at: string; by: string; reason: string }
  /** Replaced by a finalized run of the same name, which states so. */
  | { kind: 'superseded'; by: string };

/**
 * Collects the runs that the entries of a ledger give up. A run that the ledger records stays evidence: neither an
 * abandonment nor a revision changes that.
 */
export class GivenUpRuns {
  readonly runs = new Map<string, GivenUp>();
  readonly #recorded = new Set<string>();

  add(entry: LedgerEntry): void {
    if ('run_id' in entry) {
      this.#recorded.add(entry.run_id);
      this.runs.delete(entry.run_id);
      for (const id of entry.supersedes) this.#end(id, { kind: 'superseded', by: entry.run_id });
    }
    if ('abandons' in entry) {
      const { abandons, created_at: at, abandoned_by, reason } = entry;
      this.#end(abandons, { kind: 'abandoned', at, by: abandoned_by.user, reason });
    }
  }

  #end(runId: string, end: GivenUp): void {
    if (!this.#recorded.has(runId)) this.runs.set(runId, end);
  }
}

/** Returns why an entry names a run that an earlier entry already names; null if it does not. */
export function whyNamedTwice(entry: LedgerEntry, { runs, abandoned }: Names): string | null {
  const id = 'abandons' in entry ? entry.abandons : runOf(entry)?.id;
  if (id === undefined) return null;
  if (runs.has(id)) return `names run ${id}, which an entry before it records`;
  return abandoned.has(id) ? `names run ${id}, which an entry before it abandons` : null;
}

/** Reports whether a run may replace another: the same name, and an earlier revision. */
export function isEarlierRevision(earlier: string, runId: string): boolean {
  const [one, other] = [revisionOf(earlier), revisionOf(runId)];
  return one.base === other.base && one.number < other.number;
}

/** Returns a run's name without its `.r2`, and the number of its revision, 1 for the first. */
export function revisionOf(runId: string): { base: string; number: number } {
  const [, base = runId, number = '1'] = /^(.*)\.r(\d+)$/.exec(runId) ?? [];
  return { base, number: Number(number) };
}

/** Returns the abandonment that an entry records; null for other entries. */
export function abandonmentOf(entry: LedgerEntry): Abandonment | null {
  if (!('abandons' in entry)) return null;
  const { abandons, reason, abandoned_by, created_at } = entry;
  return { run_id: abandons, reason, abandoned_by, abandoned_at: created_at };
}
