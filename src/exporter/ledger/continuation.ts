import { type ErrorCode, EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { joinMaps } from '../../core/rows/map.ts';
import type { Restart } from '../../verifier/claims/schemas.ts';
import { readAcceptance } from '../../verifier/ledger/contradiction.ts';
import { deriveEntry } from '../../verifier/ledger/derive.ts';
import type { LedgerEnd } from '../../verifier/ledger/end.ts';
import { abandonmentOf, whyNamedTwice } from '../../verifier/ledger/given-up.ts';
import {
  entryDigest,
  type LedgerEntry,
  NO_PREDECESSOR,
  readEntry,
  runOf,
  type StoredLedgerEntry,
  type Subject,
  withSignaturesOf,
} from '../../verifier/ledger/ledger.ts';
import { type Past, PastBuilder } from '../../verifier/ledger/past.ts';
import { isLedgerKey, LEDGER_PREFIX, ledgerKey, runRecordKey } from '../../verifier/records/keys.ts';
import type { Acceptance } from '../../verifier/records/record.ts';
import { readRunRecord } from '../../verifier/records/stored-run.ts';
import type { Archive } from '../archive/archive.ts';
import { type LedgerTrust, refuseHandedOver, requireTrusted } from './trust.ts';
import { verifyCommand } from './verify-command.ts';

/** Ledger that was read and found intact. */
export interface KnownLedger extends LedgerEnd {
  /** Acceptances in the ledger, oldest first. */
  acceptances: Acceptance[];
  /** Accepted restarts by stream id, oldest first, each with the entries that earlier runs had. */
  restarts: ReadonlyMap<string, readonly Restart[]>;
  past: Past;
}

const NOT_HONEST: ReadonlySet<string> = new Set<ErrorCode>(['config', 'not-found', 'unreadable']);

/**
 * Reads the ledger that an export relies on and extends. Checks every link, that no head was lost or changed, and that
 * no unsigned entry follows a signed one. The newest entry must be signed as `requireTrusted` requires; its signature
 * attests all entries before it. An unsigned newest entry is derived again from the records that it names and compared.
 *
 * @throws EvidenceError `unreadable` if the ledger is not intact; `usage` if signing cannot begin; otherwise as
 * `requireTrusted` does.
 */
export async function readKnownLedger(archive: Archive, trust: LedgerTrust): Promise<KnownLedger> {
  const past = new PastBuilder();
  const accepted: { key: string; sha256: string }[] = [];
  const retired = new Set<string>();
  let previous: StoredLedgerEntry | null = null;
  let beforeThat: StoredLedgerEntry | null = null;
  let number = 0;
  for await (const { key } of archive.list(LEDGER_PREFIX)) {
    if (!isLedgerKey(key)) continue;
    number += 1;
    if (key !== ledgerKey(number)) throw broken(archive, ledgerKey(number), 'is missing, but later entries exist');
    const stored = await readEntry(archive, key);
    const { runs, abandoned } = past;
    checkLink(archive, stored, { newest: previous, runs, retired, abandoned }, number);
    past.add(stored.entry);
    refuseHandedOver(stored, trust);
    if ('hands_over_to' in stored.entry) retired.add(stored.entry.signature?.keyid ?? '');
    if ('acceptance_key' in stored.entry)
      accepted.push({ key: stored.entry.acceptance_key, sha256: stored.entry.acceptance_sha256 });
    beforeThat = previous;
    previous = stored;
  }
  requireTrusted(archive, previous, trust);
  if (trust.beginSigning === true) checkBeginning(previous, trust);
  if (previous !== null && previous.entry.signature === undefined) await checkDerived(archive, previous, beforeThat);
  const acceptances = await readAccepted(archive, accepted);
  const restarts = toRestarts(past.ended, acceptances);
  const { runs, abandoned } = past;
  return { newest: previous, runs, abandoned, past, acceptances: [...acceptances.values()], restarts, retired };
}

/** Throws if --begin-signing has no effect, so that the option does not stay in a monthly command. */
function checkBeginning(newest: StoredLedgerEntry | null, { signingKey }: LedgerTrust): void {
  if (signingKey === null)
    throw new EvidenceError('usage', '--begin-signing needs a signing key', {
      nextStep: 'Name the key in sign.key_file.',
    });
  if (newest?.entry.signature !== undefined)
    throw new EvidenceError('usage', `--begin-signing is given, but ${newest.key} is already signed`, {
      nextStep: 'Run the same command without --begin-signing.',
    });
}

/**
 * Reads the entry that was added after the known end of the ledger. Honest exports add such entries while this one
 * runs, but so can anyone else who can write to the archive.
 *
 * @throws EvidenceError `conflict` if an honest export would not have added this entry, or not under the given keys.
 */
export async function readAdded(archive: Archive, end: LedgerEnd, trust: LedgerTrust): Promise<StoredLedgerEntry> {
  const { newest: previous } = end;
  const number = (previous?.entry.number ?? 0) + 1;
  const key = ledgerKey(number);
  try {
    const stored = await readEntry(archive, key);
    checkLink(archive, stored, end, number);
    refuseHandedOver(stored, trust);
    // The operator who approved the beginning of signing has not seen entries that were added later.
    requireTrusted(archive, stored, { ...trust, beginSigning: false });
    if (stored.entry.signature === undefined) await checkDerived(archive, stored, previous);
    return stored;
  } catch (error) {
    if (!isEvidenceError(error) || !NOT_HONEST.has(error.code)) throw error;
    throw new EvidenceError(
      'conflict',
      `${key} was added to the ledger in the meantime and is not trusted: ${error.message}`,
      {
        nextStep: `Nothing was signed or added to the ledger. Find out who wrote it, with: ${verifyCommand(archive)}.`,
      },
    );
  }
}

function checkLink(
  archive: Archive,
  stored: StoredLedgerEntry,
  { newest: previous, retired, ...named }: LedgerEnd,
  number: number,
): void {
  const { key, entry } = stored;
  if (entry.number !== number) throw broken(archive, key, `says that it is entry ${entry.number}`);
  const twice = whyNamedTwice(entry, named);
  if (twice !== null) throw broken(archive, key, twice);
  if (entryDigest(entry) !== stored.sha256) throw broken(archive, key, 'does not have the form of a ledger entry');
  if (previous === null) {
    if (entry.previous_sha256 !== NO_PREDECESSOR)
      throw broken(archive, key, 'names a previous entry, but there is none');
    return;
  }
  if (entry.previous_sha256 !== previous.sha256)
    throw broken(archive, key, 'does not name the digest of the previous entry');
  if (entry.signature === undefined && previous.entry.signature !== undefined)
    throw broken(archive, key, 'is not signed, but the previous entry is');
  if (retired.has(entry.signature?.keyid ?? ''))
    throw broken(archive, key, 'is signed with a key that has already handed over to another key');
  const lost = lostHead(previous.entry, entry);
  if (lost !== null)
    throw broken(archive, key, `does not keep the head of the stream "${lost}" from the previous entry`);
}

/**
 * Returns the id of a stream whose head was lost or changed without cause; null if there is none. A run moves heads
 * forward, and an acceptance sets the head of its stream; all other heads must stay the same.
 */
function lostHead(before: LedgerEntry, after: LedgerEntry): string | null {
  const run = runOf(after)?.id;
  const accepted = 'acceptance_key' in after ? after.stream_id : null;
  for (const [streamId, head, kept] of joinMaps(before.heads, after.heads)) {
    if (streamId === accepted || head === undefined) continue;
    if (kept === undefined) return streamId;
    if (JSON.stringify(kept) !== JSON.stringify(head) && (kept.run_id !== run || kept.sequence < head.sequence))
      return streamId;
  }
  return null;
}

async function checkDerived(
  archive: Archive,
  { key, entry, sha256: digest }: StoredLedgerEntry,
  previous: StoredLedgerEntry | null,
): Promise<void> {
  const derived = withSignaturesOf(deriveEntry(await readSubject(archive, entry), previous), entry);
  if (entryDigest(derived) !== digest)
    throw broken(archive, key, 'is not the entry that follows from its record and the previous entry');
}

async function readSubject(archive: Archive, entry: LedgerEntry): Promise<Subject> {
  if ('acceptance_key' in entry)
    return { kind: 'acceptance', key: entry.acceptance_key, ...(await readAcceptance(archive, entry.acceptance_key)) };
  if ('hands_over_to' in entry) return { kind: 'hand-over', to: entry.hands_over_to, at: entry.created_at };
  const abandonment = abandonmentOf(entry);
  if (abandonment !== null) return { kind: 'abandonment', abandonment };
  if (!('run_id' in entry)) throw new TypeError('the ledger entry does not exist');
  const key = runRecordKey(entry.run_id);
  return { kind: 'run', ...(await readRunRecord(archive, key)) };
}

function toRestarts(ended: PastBuilder['ended'], acceptances: ReadonlyMap<string, Acceptance>): Map<string, Restart[]> {
  const restarts = ended.flatMap(({ streamId, spans, acceptanceKey }) => {
    const accepted = acceptances.get(acceptanceKey);
    if (accepted === undefined || accepted.stream_id !== streamId) return [];
    const { reason, accepted_by, accepted_at, head } = accepted;
    return [{ streamId, restart: { reason, accepted_by, accepted_at, head, earlier: [...spans] } }];
  });
  const byStream = Map.groupBy(restarts, ({ streamId }) => streamId);
  return new Map([...byStream].map(([streamId, all]) => [streamId, all.map(({ restart }) => restart)]));
}

/** Returns acceptances by key. Only acceptances that the ledger lists are valid. */
async function readAccepted(
  archive: Archive,
  accepted: readonly { key: string; sha256: string }[],
): Promise<Map<string, Acceptance>> {
  const acceptances = new Map<string, Acceptance>();
  for (const { key, sha256: expected } of accepted) {
    const { record, sha256: actual } = await readAcceptance(archive, key);
    if (actual !== expected) throw broken(archive, key, 'is not the record that the ledger names');
    acceptances.set(key, record);
  }
  return acceptances;
}

function broken(archive: Archive, key: string, what: string): EvidenceError {
  return new EvidenceError('unreadable', `the ledger of this archive is not consistent: ${key} ${what}`, {
    nextStep: `Nothing was exported. Check the archive: ${verifyCommand(archive)}.`,
  });
}
