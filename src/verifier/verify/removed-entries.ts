import { runRecordKey, stampKey } from '../records/keys.ts';
import type { ArchiveReading } from './archive-reading.ts';
import type { InScope } from './ledger.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/**
 * Finds finalized runs whose ledger entries were there once. A run without an entry is open, as its export was
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
          ? `run ${namedBy} says that it was recorded before`
          : keys.has(stampKey(runId, 1))
            ? 'the run is time-stamped, which it is after it is recorded'
            : null;
    if (why === null) return [];
    const message = `run ${runId} is finalized, its ledger entry is missing, and it was there: ${why}`;
    return [toObjectFinding('ledger/missing-entry', runRecordKey(runId), message)];
  });
}
