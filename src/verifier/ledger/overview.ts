import type { Archive, Inspected } from '../archive/archive.ts';
import { type Asked, readAsked } from '../records/asked.ts';
import { askedKey, runIdOf, runRecordKey, stampKey } from '../records/keys.ts';
import type { RunRecord } from '../records/record.ts';
import { readRunRecord } from '../records/stored-run.ts';
import { readEntry, runOf } from './ledger.ts';

/** A run as the archive shows it. Nothing of it is verified. */
export interface RunOverview {
  run_id: string;
  /** `unrecorded`: finalized, but no ledger entry records it yet. */
  state: 'finalized' | 'unrecorded' | 'open';
  /** Null for a run that is not finalized: it has no record yet. */
  record: RunRecord | null;
  /** What a run is asked for that is not finalized; null where that is not written down. */
  asked: Asked | null;
  stamped: boolean;
  /** All that lies under the run. */
  objects: number;
  bytes: number;
  /** How the run's record is protected now; null where the store locks nothing, and for an open run. */
  protection: Pick<Inspected, 'lock' | 'legal_hold'> | null;
}

/**
 * Every run of an archive, in the order of their ids.
 * @throws EvidenceError `unreadable` for a record that is not one; `archive`.
 */
export async function* overviewRuns(archive: Archive): AsyncGenerator<RunOverview> {
  const recorded = await readRecordedRuns(archive);
  let run = null as Listed | null;
  for await (const { key, bytes } of archive.list('runs/')) {
    const runId = runIdOf(key);
    if (runId === null) continue;
    if (run !== null && run.runId !== runId) yield await describe(archive, run, recorded);
    if (run?.runId !== runId) run = { runId, asked: false, finalized: false, stamped: false, objects: 0, bytes: 0 };
    run.objects += 1;
    run.bytes += bytes;
    run.asked ||= key === askedKey(runId);
    run.finalized ||= key === runRecordKey(runId);
    run.stamped ||= key === stampKey(runId, 1);
  }
  if (run !== null) yield await describe(archive, run, recorded);
}

interface Listed {
  runId: string;
  asked: boolean;
  finalized: boolean;
  stamped: boolean;
  objects: number;
  bytes: number;
}

async function readRecordedRuns(archive: Archive): Promise<Set<string>> {
  const recorded = new Set<string>();
  for await (const { key } of archive.list('ledger/')) {
    const run = /^ledger\/\d{8}\.json$/.test(key) ? runOf((await readEntry(archive, key)).entry) : null;
    if (run !== null) recorded.add(run.id);
  }
  return recorded;
}

async function describe(archive: Archive, run: Listed, recorded: ReadonlySet<string>): Promise<RunOverview> {
  const { runId, finalized, stamped, objects, bytes } = run;
  const common = { run_id: runId, stamped, objects, bytes };
  if (!finalized)
    return {
      ...common,
      state: 'open',
      record: null,
      asked: run.asked ? (await readAsked(archive, runId)).asked : null,
      protection: null,
    };
  const key = runRecordKey(runId);
  const { record } = await readRunRecord(archive, key);
  const inspected = (await archive.locks?.inspect(key)) ?? null;
  const protection = inspected === null ? null : { lock: inspected.lock, legal_hold: inspected.legal_hold };
  return { ...common, state: recorded.has(runId) ? 'finalized' : 'unrecorded', record, asked: null, protection };
}
