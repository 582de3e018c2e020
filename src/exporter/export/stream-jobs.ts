import { type EvidenceError, type NextStep, RESUME } from '../../core/errors.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import type { RunRecord, StreamFailure, StreamRecord } from '../../verifier/records/record.ts';
import type { StoredAs, Unbound } from '../../verifier/records/stored-object.ts';
import type { StreamSelection } from './plan.ts';

export interface RunResult {
  record: RunRecord;
  /** `finalized` by this call, `already` finalized earlier, or `open`: incomplete, and resumed by the same command. */
  state: 'finalized' | 'already' | 'open';
  /** Reason that a required time-stamp is missing; the same command adds it. */
  unstamped: EvidenceError | null;
  /** True if the run is open because the service refused the key for every missing stream. */
  refused?: boolean;
}

export interface StoredRecord extends StoredAs {
  record: Unbound<StreamRecord>;
}

/** Stream that another process or attempt received. */
export interface Recovered {
  record: Unbound<StreamRecord>;
  /** True if the bundle is encrypted: its claims are those that the interrupted attempt recorded. */
  unread: boolean;
}

/** Outcome of a stream's job. */
export type StreamOutcome =
  | { kind: 'recorded'; stored: StoredRecord; recovered: Recovered | null }
  /** Archived as an attempt, which keeps the run from being finalized. */
  | { kind: 'incomplete'; record: Unbound<StreamRecord>; recovered: Recovered | null; isRefused: boolean }
  | { kind: 'failed'; failure: FailedStream };

interface FailedStream extends Omit<StreamFailure, 'next_step'> {
  next_step: NextStep;
}

export function toFailed(streamId: string, { code, message, step }: EvidenceError): StreamOutcome {
  return { kind: 'failed', failure: { stream_id: streamId, code, reason: message, next_step: step ?? RESUME } };
}

/** Streams of a run after all jobs have ended. */
export interface StreamJobs {
  selection: StreamSelection;
  /** Recorded streams, sorted by stream id. */
  recorded: Rows<StoredRecord>;
  incomplete: Rows<Unbound<StreamRecord>>;
  failed: FailedStream[];
  /** Number of failed and incomplete streams for which the service refused the key. */
  refused: number;
  /** Streams that this process did not receive. */
  recovered: Rows<RecoveredStream>;
}

interface RecoveredStream extends Pick<Recovered, 'unread'> {
  streamId: string;
}

/** Collects the outcomes of a run's streams. */
export class StreamOutcomes {
  readonly #recorded = new RowsBuilder<StoredRecord>();
  readonly #incomplete = new RowsBuilder<Unbound<StreamRecord>>();
  readonly #failed: FailedStream[] = [];
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

/** Returns the record of a stream that was received, completely or in part. */
export function receivedOf(outcome: Exclude<StreamOutcome, { kind: 'failed' }>): Unbound<StreamRecord> {
  return outcome.kind === 'recorded' ? outcome.stored.record : outcome.record;
}

/** Codes of failures that the next stream would hit too. */
export type CommonCode = 'unreachable' | 'refused';

/** Returns the reason that a stream was not received completely, if it would affect other streams too. */
export function commonCodeOf(outcome: StreamOutcome): CommonCode | null {
  if (outcome.kind === 'incomplete') return outcome.isRefused ? 'refused' : null;
  if (outcome.kind !== 'failed') return null;
  const { code } = outcome.failure;
  return code === 'unreachable' || code === 'refused' ? code : null;
}
