import type { ErrorCode, EvidenceError } from '../../core/errors.ts';
import type { RunRecord, StreamFailure, StreamRecord } from '../../verifier/records/record.ts';
import type { StoredAs, Unbound } from '../../verifier/records/stored-object.ts';
import type { StreamSelection } from './plan.ts';

export interface RunResult {
  record: RunRecord;
  /** `finalized` now, `already` finalized before, or `open`: incomplete, to be resumed by the same command. */
  state: 'finalized' | 'already' | 'open';
  /** Why the run has no time-stamp although it is to have one; the same command adds it. */
  unstamped: EvidenceError | null;
  /** True if the run is open because the service refused the key for every stream that is missing. */
  refused?: boolean;
}

export interface StoredRecord extends StoredAs {
  record: Unbound<StreamRecord>;
}

/** A stream that was not received by this process. */
export interface Recovered {
  record: Unbound<StreamRecord>;
  /** The bundle is encrypted, so its claims are as the interrupted try wrote them down. */
  unread: boolean;
}

/** Outcome of the job of a stream. */
export type StreamOutcome =
  | { kind: 'recorded'; stored: StoredRecord; recovered: Recovered | null }
  /** Archived as an attempt; the run cannot be finalized with it. */
  | { kind: 'incomplete'; record: Unbound<StreamRecord>; recovered: Recovered | null; isRefused: boolean }
  | { kind: 'failed'; failure: StreamFailure; code: ErrorCode };

/** How the streams of a run stand when all jobs have ended. */
export interface StreamJobs {
  selection: StreamSelection;
  recorded: StoredRecord[];
  incomplete: Unbound<StreamRecord>[];
  failed: StreamFailure[];
  /** Number of failed and incomplete streams for which the service refused the key. */
  refused: number;
  /** Those of them that this process did not receive. */
  recovered: Recovered[];
}
