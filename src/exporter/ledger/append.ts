import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { deriveEntry } from '../../verifier/ledger/derive.ts';
import type { LedgerEnd } from '../../verifier/ledger/end.ts';
import { abandonmentOf, type Names } from '../../verifier/ledger/given-up.ts';
import {
  LEDGER_ENTRY,
  type LedgerEntry,
  runOf,
  type StoredLedgerEntry,
  type Subject,
  signedPart,
} from '../../verifier/ledger/ledger.ts';
import { ledgerKey } from '../../verifier/records/keys.ts';
import { sign } from '../../verifier/signature/envelope.ts';
import type { SigningKey } from '../../verifier/signature/key.ts';
import type { Archive } from '../archive/archive.ts';
import { keepPublicKey, putLongRecord } from '../records/put-record.ts';
import { readAdded } from './continuation.ts';
import type { LedgerTrust } from './trust.ts';
import { verifyCommand } from './verify-command.ts';

const MAX_RACES = 100;

/**
 * Reads the entries that were added since `known` was read, up to the present end of the ledger.
 * @throws EvidenceError as `readAdded` does.
 */
export async function catchUp(archive: Archive, known: LedgerEnd, trust: LedgerTrust): Promise<LedgerEnd> {
  let { newest } = known;
  const runs = new Map(known.runs);
  const retired = new Set(known.retired);
  const abandoned = new Set(known.abandoned);
  while ((await archive.stat(nextKey(newest))) !== null) {
    newest = await readAdded(archive, { newest, runs, retired, abandoned }, trust);
    if ('hands_over_to' in newest.entry) retired.add(newest.entry.signature?.keyid ?? '');
    const run = runOf(newest.entry);
    if (run !== null) runs.set(run.id, run.sha256);
    const abandonment = abandonmentOf(newest.entry);
    if (abandonment !== null) abandoned.add(abandonment.run_id);
  }
  return { newest, runs, retired, abandoned };
}

/**
 * Appends an entry to the ledger. If two writers race for a number, one wins and the other takes the next number.
 *
 * @param known end of the ledger when it was read; every later entry is checked.
 * @param successor key that a handover entry names; it countersigns the entry.
 * @returns `existing` if another process has already recorded the run.
 * @throws EvidenceError as `readAdded` does; `conflict` if the ledger has another record of the run, if a run to record
 * was abandoned, or if a run to abandon is recorded.
 */
export async function appendEntry(
  archive: Archive,
  subject: Subject,
  known: LedgerEnd,
  trust: LedgerTrust,
  successor: SigningKey | null = null,
): Promise<'created' | 'existing'> {
  const { signingKey } = trust;
  let end = await catchUp(archive, known, trust);
  for (let race = 0; race < MAX_RACES; race++) {
    if (isRecorded(archive, end, subject)) return 'existing';
    const entry = signEntry(deriveEntry(subject, end.newest), signingKey, successor);
    const key = nextKey(end.newest);
    if (signingKey !== null) await keepPublicKey(archive, signingKey);
    if (successor !== null) await keepPublicKey(archive, successor);
    try {
      return (await putLongRecord(archive, key, LEDGER_ENTRY, entry)).state;
    } catch (error) {
      if (!isEvidenceError(error, 'conflict')) throw error;
    }
    end = await catchUp(archive, end, trust);
  }
  throw new EvidenceError('archive', `other writers extended the ledger ${MAX_RACES} times during this attempt`, {
    nextStep: 'Run the same command again: only the ledger entry is missing.',
  });
}

function signEntry(entry: LedgerEntry, key: SigningKey | null, successor: SigningKey | null): LedgerEntry {
  if (key === null) return entry;
  const content = signedPart(entry);
  const signed = { ...entry, signature: sign(content, key) };
  return successor === null ? signed : { ...signed, countersignature: sign(content, successor) };
}

/** Returns the key of the next entry. */
export function nextKey(newest: StoredLedgerEntry | null): string {
  return ledgerKey((newest?.entry.number ?? 0) + 1);
}

function isRecorded(archive: Archive, { runs, abandoned }: Names, subject: Subject): boolean {
  if (subject.kind !== 'run' && subject.kind !== 'abandonment') return false;
  const { run_id } = subject.kind === 'run' ? subject.record : subject.abandonment;
  if (abandoned.has(run_id)) throw abandonedMeanwhile(run_id);
  const recorded = runs.get(run_id);
  if (subject.kind === 'abandonment') {
    if (recorded === undefined) return false;
    throw new EvidenceError('conflict', `the ledger records run ${run_id}; it is finalized and cannot be abandoned`, {
      nextStep: `Nothing was written. Verify the run: ${verifyCommand(archive)}/runs/${run_id}.`,
    });
  }
  if (recorded === undefined || recorded === subject.sha256) return recorded !== undefined;
  throw new EvidenceError(
    'conflict',
    `the record of run ${run_id} in the archive is not the one that the ledger names`,
    {
      nextStep: `Nothing was added to the ledger. Check the archive: ${verifyCommand(archive)}.`,
    },
  );
}

function abandonedMeanwhile(runId: string): EvidenceError {
  return new EvidenceError('conflict', `run ${runId} was abandoned`, {
    nextStep: 'Nothing was added to the ledger. The same export command exports a revision of it.',
  });
}
