import type { GivenUp } from '../ledger/given-up.ts';
import { runIdOf, runRecordKey, stampKey } from '../records/keys.ts';
import type { Outcome } from '../records/outcome.ts';
import type { ArchiveReading } from './archive-reading.ts';
import type { InScope } from './ledger.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/** Run that is no evidence yet, or never will be. */
export interface OpenRun {
  run_id: string;
  /** `begun`: not finalized. `unrecorded`: finalized, but in no ledger entry. Other states: given up. */
  state: 'begun' | 'unrecorded' | GivenUp['kind'];
  message: string;
}

/** Returns the runs on which no verdict rests. The archive is incomplete until each is finished or given up. */
export function openRunsIn(
  { keys, checks, givenUp, statedOutcomes }: Pick<ArchiveReading, 'keys' | 'checks' | 'givenUp' | 'statedOutcomes'>,
  inScope: InScope,
): OpenRun[] {
  const there = new Set([...keys].map(runIdOf).filter((runId): runId is string => runId !== null));
  const unrecorded = new Set(checks.filter(({ isRecorded }) => !isRecorded).map(({ runId }) => runId));
  return [...there]
    .filter(inScope)
    .sort()
    .flatMap((runId): OpenRun[] => {
      const end = givenUp.get(runId);
      if (end !== undefined)
        return [{ run_id: runId, state: end.kind, message: sayGivenUp(runId, end, statedOutcomes.get(runId)) }];
      const state = unrecorded.has(runId) ? 'unrecorded' : keys.has(runRecordKey(runId)) ? null : 'begun';
      if (state === null) return [];
      return [{ run_id: runId, state, message: sayOpen(runId, state) }];
    });
}

function sayOpen(runId: string, state: 'begun' | 'unrecorded'): string {
  if (state === 'begun') return `Run ${runId} was begun but not finalized: it was not verified.`;
  return `Run ${runId} is finalized, but no ledger entry records it: its export was interrupted or is still running, or its entry was removed from the end of the ledger. It counts as unfinished.`;
}

function sayGivenUp(runId: string, end: GivenUp, outcome: Outcome | undefined): string {
  const fate =
    end.kind === 'superseded'
      ? `was not finished, and run ${end.by} replaces it`
      : `was abandoned at ${end.at} by ${end.by}: ${end.reason}`;
  const stated = outcome === undefined ? '' : ` It was finalized, and its record states the outcome ${outcome}.`;
  return `Run ${runId} ${fate}.${stated} It was not verified, because it is not evidence.`;
}

/** Reports whether a run keeps the archive from being verified. */
export function isUnfinished({ state }: OpenRun): boolean {
  return state === 'begun' || state === 'unrecorded';
}

/**
 * Finds finalized runs whose ledger entries existed once. A run without an entry is open, because its export was
 * interrupted or is about to write the entry, or it was given up. The entry was removed if
 *
 * - another run names this one as recorded before it;
 * - the run has a time-stamp, which an export adds after the entry;
 * - the ledger has a gap, unless the run was given up: a gap is a finding by itself.
 */
export function findRemovedEntries(
  { ledger: { entries }, checks, givenUp, keys }: Pick<ArchiveReading, 'ledger' | 'checks' | 'givenUp' | 'keys'>,
  inScope: InScope,
): ObjectFinding[] {
  const isGapless = (entries.at(-1)?.entry.number ?? 0) === entries.length;
  const known = new Map(
    checks.flatMap(({ runId, record }) => (record?.earlier_runs ?? []).map(({ run_id }) => [run_id, runId] as const)),
  );
  const open = checks.filter(({ isRecorded }) => !isRecorded).map(({ runId }) => runId);
  const left = [...givenUp.keys()].filter((runId) => inScope(runId) && keys.has(runRecordKey(runId)));
  return [...open, ...left].flatMap((runId) => {
    const namedBy = known.get(runId);
    const why =
      !isGapless && !givenUp.has(runId)
        ? 'the ledger has a gap'
        : namedBy !== undefined
          ? `run ${namedBy} names it as recorded earlier`
          : keys.has(stampKey(runId, 1))
            ? 'the run is time-stamped, which happens after it is recorded'
            : null;
    if (why === null) return [];
    const message = `run ${runId} is finalized, and its ledger entry was removed: ${why}`;
    return [toObjectFinding('ledger/missing-entry', runRecordKey(runId), message)];
  });
}
