import { isEvidenceError } from '../../core/errors.ts';
import type { Inspected } from '../../verifier/archive/archive.ts';
import type { GivenUp } from '../../verifier/ledger/given-up.ts';
import { type Past, readPast } from '../../verifier/ledger/past.ts';
import { askedKey, RUNS_PREFIX, runIdOf, runRecordKey, stampKey } from '../../verifier/records/keys.ts';
import { type Asked, readAsked } from '../../verifier/records/question.ts';
import type { RunRecord } from '../../verifier/records/record.ts';
import { readRunRecord } from '../../verifier/records/stored-run.ts';
import type { Archive } from '../archive/archive.ts';

/** Run as listed in the archive, without verification. */
export interface RunOverview {
  run_id: string;
  /** `unrecorded`: finalized, but not yet in the ledger. */
  state: 'finalized' | 'unrecorded' | 'open' | GivenUp['kind'];
  /** Reason that the run is not continued; null for a run that was not given up. */
  given_up: GivenUp | null;
  /** Record of the run; null for a run that is not finalized. */
  record: RunRecord | null;
  /** Request of a run that is not finalized; null if it is not recorded or cannot be read. */
  asked: Asked | null;
  stamped: boolean;
  /** Number of objects under the run's prefix. */
  objects: number;
  bytes: number;
  /** Present protection of the run record; null if the store has no locks, and for an open run. */
  protection: Pick<Inspected, 'lock' | 'legal_hold'> | null;
}

/**
 * Yields every run of an archive, ordered by id.
 * @throws EvidenceError `unreadable` if a record cannot be read; `archive`.
 */
export async function* overviewRuns(archive: Archive): AsyncGenerator<RunOverview> {
  const past = await readPast(archive);
  let run = null as Listed | null;
  for await (const { key, bytes } of archive.list(RUNS_PREFIX)) {
    const runId = runIdOf(key);
    if (runId === null) continue;
    if (run !== null && run.runId !== runId) yield await describe(archive, run, past);
    if (run?.runId !== runId) run = { runId, asked: false, finalized: false, stamped: false, objects: 0, bytes: 0 };
    run.objects += 1;
    run.bytes += bytes;
    run.asked ||= key === askedKey(runId);
    run.finalized ||= key === runRecordKey(runId);
    run.stamped ||= key === stampKey(runId, 1);
  }
  if (run !== null) yield await describe(archive, run, past);
}

interface Listed {
  runId: string;
  asked: boolean;
  finalized: boolean;
  stamped: boolean;
  objects: number;
  bytes: number;
}

async function describe(archive: Archive, run: Listed, { runs, givenUp }: Past): Promise<RunOverview> {
  const { runId, finalized, stamped, objects, bytes } = run;
  const end = givenUp.get(runId) ?? null;
  const common = { run_id: runId, given_up: end, stamped, objects, bytes };
  if (end !== null || !finalized) {
    const asked = run.asked ? await findAsked(archive, runId) : null;
    return { ...common, state: end?.kind ?? 'open', record: null, asked, protection: null };
  }
  const key = runRecordKey(runId);
  const { record } = await readRunRecord(archive, key);
  const inspected = (await archive.locks?.inspect(key)) ?? null;
  const protection = inspected === null ? null : { lock: inspected.lock, legal_hold: inspected.legal_hold };
  return { ...common, state: runs.has(runId) ? 'finalized' : 'unrecorded', record, asked: null, protection };
}

/** Returns null for an unreadable request: nothing of this run is finalized, so the overview goes on. */
async function findAsked(archive: Archive, runId: string): Promise<Asked | null> {
  try {
    return (await readAsked(archive, runId)).asked;
  } catch (error) {
    if (isEvidenceError(error, 'unreadable')) return null;
    throw error;
  }
}
