import type { ErrorCode, EvidenceError } from '../../core/errors.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import type { RunRecord, StreamFailure, StreamRecord } from '../../verifier/records/record.ts';
import type { StoredAs, Unbound } from '../../verifier/records/stored-object.ts';
import type { StreamSelection } from './plan.ts';

export interface RunResult {
  record: RunRecord;
  /** `finalized` now, `already` finalized before, or `open`: incomplete, to be resumed by the same command. */
  state: 'finalized' | 'already' | 'open';
  /** The reason that the run lacks a time-stamp that it is to have; the same command adds it. */
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

/** The streams of a run when all jobs have ended. */
export interface StreamJobs {
  selection: StreamSelection;
  /** Sorted by stream id. */
  recorded: Rows<StoredRecord>;
  incomplete: Rows<Unbound<StreamRecord>>;
  failed: StreamFailure[];
  /** Number of failed and incomplete streams for which the service refused the key. */
  refused: number;
  /** Streams that this process did not receive. */
  recovered: Rows<RecoveredStream>;
}

interface RecoveredStream extends Pick<Recovered, 'unread'> {
  streamId: string;
}

/** Collects the outcomes of the streams of a run. */
export class StreamOutcomes {
  readonly #recorded = new RowsBuilder<StoredRecord>();
  readonly #incomplete = new RowsBuilder<Unbound<StreamRecord>>();
  readonly #failed: StreamFailure[] = [];
  readonly #recovered = new RowsBuilder<RecoveredStream>();
  #refused = 0;

  get recorded(): number {
    return this.#recorded.length;
  }

  add(outcome: StreamOutcome): void {
    if (commonCodeOf(outcome) === 'refused') this.#refused++;
    if (outcome.kind === 'failed') {
      this.#failed.push(outcome.failure);
      return;
    }
    const { stream_id: streamId } = receivedOf(outcome);
    if (outcome.kind === 'recorded') this.#recorded.push(outcome.stored);
    else this.#incomplete.push(outcome.record);
    if (outcome.recovered !== null) this.#recovered.push({ streamId, unread: outcome.recovered.unread });
  }

  finish(selection: StreamSelection): StreamJobs {
    return {
      selection,
      recorded: this.#recorded.finishSorted(({ record }) => record.stream_id),
      incomplete: this.#incomplete.finish(),
      failed: this.#failed,
      refused: this.#refused,
      recovered: this.#recovered.finish(),
    };
  }
}

/** The record of a stream that was received, whether or not all of it is there. */
export function receivedOf(outcome: Exclude<StreamOutcome, { kind: 'failed' }>): Unbound<StreamRecord> {
  return outcome.kind === 'recorded' ? outcome.stored.record : outcome.record;
}

/** Codes of failures that the next stream would meet, too. */
export type CommonCode = 'unreachable' | 'refused';

/** The reason why a stream was not received whole, if other streams would meet it as well. */
export function commonCodeOf(outcome: StreamOutcome): CommonCode | null {
  if (outcome.kind === 'incomplete') return outcome.isRefused ? 'refused' : null;
  if (outcome.kind !== 'failed') return null;
  return outcome.code === 'unreachable' || outcome.code === 'refused' ? outcome.code : null;
}
