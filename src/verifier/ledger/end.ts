import type { StoredLedgerEntry } from './ledger.ts';

/** End of a ledger that was verified. */
export interface LedgerEnd {
  newest: StoredLedgerEntry | null;
  /** SHA-256 of each run's record, by run id; oldest first. */
  runs: ReadonlyMap<string, string>;
  /** Ids of abandoned runs. */
  abandoned: ReadonlySet<string>;
  /** Ids of keys that handed over to others. */
  retired: ReadonlySet<string>;
}
