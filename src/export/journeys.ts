import type { EvidenceError } from '../errors.ts';
import type { Failure, RunRecord, StreamRecord } from '../ledger/record.ts';
import type { Selection } from './plan.ts';

export interface RunResult {
  record: RunRecord;
  /** `sealed` now, `already` sealed before, or `open`: incomplete, to be resumed by the same command. */
  state: 'sealed' | 'already' | 'open';
  /** Why the run has no time-stamp although it is to have one; the same command adds it. */
  unstamped: EvidenceError | null;
}

export interface StoredRecord {
  record: StreamRecord;
  key: string;
  bytes: number;
  sha256: string;
  version_id?: string;
}

/** How the streams of a run stand when all journeys have ended. */
export interface Journeys {
  selection: Selection;
  recorded: StoredRecord[];
  incomplete: StreamRecord[];
  failed: Failure[];
}
