import { isEvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { coverageOf } from '../records/coverage.ts';
import { runRecordKey } from '../records/keys.ts';
import type { EarlierRun, RunRecord, RunWarning } from '../records/record.ts';
import { readRunRecord } from '../records/stored-run.ts';
import type { LedgerEnd } from './end.ts';

/** Maximum number of runs: twenty years of months. */
const KEPT = 240;

export interface EarlierRuns {
  /** Oldest first. */
  runs: EarlierRun[];
  /** Null if the runs are known. */
  warning: RunWarning | null;
}

/**
 * Reads the runs of a ledger. Each record lists earlier runs, so only the newest has to be read; it counts only if it
 * is the one in the ledger.
 */
export async function readEarlierRuns(archive: ReadableArchive, ledger: Pick<LedgerEnd, 'runs'>): Promise<EarlierRuns> {
  const newest = [...ledger.runs].at(-1);
  if (newest === undefined) return { runs: [], warning: null };
  const [runId, expected] = newest;
  const key = runRecordKey(runId);
  try {
    const { record, sha256 } = await readRunRecord(archive, key);
    if (sha256 !== expected) return unknown(`${key} is not the record that the ledger names`);
    return { runs: [...record.earlier_runs, toEarlierRun(record)].slice(-KEPT), warning: null };
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return unknown(error.message);
  }
}

/** Returns the facts about a run that later records state. */
export function toEarlierRun(record: RunRecord): EarlierRun {
  const { run_id, outcome, finished_at, streams, reconciliation } = record;
  return {
    ...coverageOf(record),
    run_id,
    outcome,
    finished_at,
    streams: reconciliation.exported,
    entries: streams.reduce((sum, stream) => sum + stream.entries, 0),
  };
}

function unknown(why: string): EarlierRuns {
  const message = `the runs before this one could not be read, so their coverage is not shown: ${why}`;
  return { runs: [], warning: { code: 'earlier-runs-unread', message } };
}
