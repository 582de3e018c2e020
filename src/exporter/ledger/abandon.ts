import { EvidenceError } from '../../core/errors.ts';
import { RUN_ID } from '../../verifier/model/run-id.ts';
import { runPrefix } from '../../verifier/records/keys.ts';
import type { Abandonment } from '../../verifier/records/record.ts';
import type { Archive } from '../archive/archive.ts';
import { appendEntry, nextKey } from './append.ts';
import { type KnownLedger, readKnownLedger } from './continuation.ts';
import type { LedgerTrust } from './trust.ts';

/**
 * Records that a run that was begun, or that someone else placed in the archive, is abandoned. Its objects stay, count
 * for nothing, and no longer keep the archive from verifying.
 *
 * @throws EvidenceError `not-found` if the archive holds nothing of the run; `usage` if the run is in the ledger or was
 * already given up; as `readKnownLedger` and `appendEntry` do.
 */
export async function abandonRun(archive: Archive, abandonment: Abandonment, trust: LedgerTrust): Promise<void> {
  const ledger = await readOpen(archive, abandonment, trust);
  await appendEntry(archive, { kind: 'abandonment', abandonment }, ledger, trust);
}

/**
 * Returns the key of the entry that `abandonRun` would write. Writes nothing. @throws EvidenceError as `abandonRun`
 * does.
 */
export async function foreseeAbandonment(
  archive: Archive,
  abandonment: Abandonment,
  trust: LedgerTrust,
): Promise<string> {
  return nextKey((await readOpen(archive, abandonment, trust)).newest);
}

async function readOpen(archive: Archive, { run_id: runId }: Abandonment, trust: LedgerTrust): Promise<KnownLedger> {
  const ledger = await readKnownLedger(archive, trust);
  const end = ledger.past.givenUp.get(runId);
  if (ledger.runs.has(runId))
    throw new EvidenceError('usage', `run ${runId} is in the ledger; it is evidence and cannot be abandoned`, {
      nextStep: 'Nothing was written. To replace it, export a revision: evidence export --revise.',
    });
  if (end !== undefined)
    throw new EvidenceError(
      'usage',
      end.kind === 'superseded'
        ? `run ${end.by} already replaces run ${runId}`
        : `run ${runId} was already abandoned, at ${end.at} by ${end.by}: ${end.reason}`,
      { nextStep: 'Nothing needs to be done; verify lists it without failing.' },
    );
  if (!RUN_ID.test(runId) || !(await isThere(archive, runPrefix(runId))))
    throw new EvidenceError('not-found', `the archive has no run ${runId}`, {
      nextStep: 'List the runs with: evidence runs.',
    });
  return ledger;
}

async function isThere(archive: Archive, prefix: string): Promise<boolean> {
  for await (const _object of archive.list(prefix)) return true;
  return false;
}
