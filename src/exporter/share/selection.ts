import { sha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { isKey } from '../../verifier/archive/key.ts';
import {
  countersignatureOf,
  findEntry,
  readEntry,
  readNewestEntry,
  type StoredLedgerEntry,
} from '../../verifier/ledger/ledger.ts';
import type { SharedObject } from '../../verifier/records/hold-log.ts';
import {
  ARCHIVE_KEY,
  COMMON_PREFIXES,
  isCommon,
  ledgerKey,
  publicKeyKey,
  runEnvelopeKey,
  runPrefix,
  runRecordKey,
} from '../../verifier/records/keys.ts';
import type { RunRecord } from '../../verifier/records/record.ts';
import { readStamps } from '../../verifier/records/stamps.ts';
import { readRunEnvelope } from '../../verifier/records/statement.ts';
import { type PublicKey, readPublicKey } from '../../verifier/signature/key.ts';
import type { Archive } from '../archive/archive.ts';

/** Finalized run and the digest of its record as it was read. */
export interface SharedRun {
  record: RunRecord;
  sha256: string;
}

/** Everything that a recipient needs to verify one run, and nothing of any other run. */
export interface ShareSelection {
  objects: SharedObject[];
  /** Ledger entry of the run. */
  entry: StoredLedgerEntry;
  /** Public key of the run's signature; null for an unsigned run. */
  signer: PublicKey | null;
  /** Key of the run's first time-stamp; null if there is none. */
  stamp: string | null;
}

/** Object as a record lists it. */
interface Recorded {
  key: string;
  sha256: string;
  bytes?: number;
  version_id?: string | undefined;
}

const MAX_SMALL_BYTES = 2 ** 30;

/**
 * Selects the objects that the run record lists, the objects that attest the record, and the ledger from its first
 * entry to the run's own, which shows that entry's history.
 *
 * @throws EvidenceError `not-found` if the run has no ledger entry or lacks its signature; `unreadable` if an object is
 * not as it was recorded.
 */
export async function selectObjects(archive: Archive, { record, sha256: digest }: SharedRun): Promise<ShareSelection> {
  const { run_id: runId } = record;
  const entry = await requireEntry(archive, runId, digest);
  const ledger = await readLedgerFor(archive, entry);
  const { stored: stamps } = await readStamps(archive, runId);
  const envelope = record.signed ? await readEnvelope(archive, runId) : null;
  const keyIds = new Set([
    envelope?.keyId,
    ...ledger.flatMap(({ entry }) => [entry.signature?.keyid, countersignatureOf(entry)?.keyid]),
  ]);
  const publicKeys = await Promise.all(
    [...keyIds].filter((id) => id !== undefined).map((id) => measure(archive, publicKeyKey(id))),
  );
  const recorded: Recorded[] = [
    { key: runRecordKey(runId), sha256: digest },
    ...(envelope === null ? [] : [envelope]),
    ...(await Promise.all(stamps.map(({ key }) => measure(archive, key)))),
    ...record.documents,
    ...record.left_over,
    ...record.streams.flatMap(({ bundle, record: stored }) => (stored === null ? [bundle] : [bundle, stored])),
    ...[record.supplements?.object ?? []].flat(),
    ...ledger.flatMap(({ key, entry: noted, sha256: own }) => [
      { key, sha256: own },
      ...('acceptance_key' in noted ? [{ key: noted.acceptance_key, sha256: noted.acceptance_sha256 }] : []),
    ]),
    ...publicKeys,
    await measure(archive, ARCHIVE_KEY),
  ];
  const listed = await list(archive, runId);
  return {
    objects: recorded.map((object) => toShared(object, listed.get(object.key), runId)),
    entry,
    signer: envelope === null ? null : await readSigner(archive, envelope.keyId),
    stamp: stamps[0]?.key ?? null,
  };
}

async function requireEntry(archive: Archive, runId: string, digest: string): Promise<StoredLedgerEntry> {
  const found = await findEntry(archive, runId);
  if (found === null)
    throw new EvidenceError(
      'not-found',
      `run ${runId} is finalized, but no ledger entry records it; nothing was shared`,
      {
        nextStep: 'Run the export command of that run again to add the entry.',
      },
    );
  if ('run_sha256' in found.entry && found.entry.run_sha256 === digest) return found;
  throw differs(runRecordKey(runId), `its SHA-256 is not the one in ${found.key}`);
}

/**
 * Reads the ledger up to the run's entry, and on to the last handover of a signing key, because a recipient may have
 * only the newest key.
 */
async function readLedgerFor(archive: Archive, own: StoredLedgerEntry): Promise<StoredLedgerEntry[]> {
  const entries: StoredLedgerEntry[] = [];
  const newest = (await readNewestEntry(archive)) ?? own;
  for (let number = 1; number <= newest.entry.number; number += 1)
    entries.push(await readEntry(archive, ledgerKey(number)));
  const last = entries.findLastIndex(({ entry }) => entry.number === own.entry.number || 'hands_over_to' in entry);
  return entries.slice(0, last + 1);
}

async function readEnvelope(archive: Archive, runId: string): Promise<Recorded & { keyId: string }> {
  const key = runEnvelopeKey(runId);
  if ((await archive.stat(key)) === null)
    throw new EvidenceError('not-found', `run ${runId} must be signed, but ${key} is missing; nothing was shared`, {
      nextStep: 'Run the export command of that run again to add the signature.',
    });
  const { signature } = await readRunEnvelope(archive, runId);
  return { ...(await measure(archive, key)), keyId: signature.keyid };
}

async function readSigner(archive: Archive, keyId: string): Promise<PublicKey> {
  const key = publicKeyKey(keyId);
  return readPublicKey(Buffer.from(await archive.readBytes(key, MAX_SMALL_BYTES)).toString('latin1'), key);
}

async function measure(archive: Archive, key: string): Promise<Recorded> {
  const bytes = await archive.readBytes(key, MAX_SMALL_BYTES);
  return { key, sha256: sha256(bytes), bytes: bytes.length };
}

async function list(archive: Archive, runId: string): Promise<Map<string, StoredObject>> {
  const listed = new Map<string, StoredObject>();
  for (const prefix of [runPrefix(runId), ...COMMON_PREFIXES, ARCHIVE_KEY])
    for await (const object of archive.list(prefix)) listed.set(object.key, object);
  return listed;
}

/** Returns the object as it is stored, after checking that it is the recorded one. */
function toShared(recorded: Recorded, found: StoredObject | undefined, runId: string): SharedObject {
  const { key, sha256: digest, bytes, version_id: version } = recorded;
  // A record that has been overwritten may list any key at all.
  const isHere = key === ARCHIVE_KEY || isCommon(key) || key.startsWith(runPrefix(runId));
  if (!isKey(key) || !isHere) throw differs(runRecordKey(runId), 'names something that is not an object of the run');
  if (found === undefined || found.irregular !== undefined) throw differs(key, 'it is recorded but missing');
  if (bytes !== undefined && bytes !== found.bytes)
    throw differs(key, `it has ${found.bytes} bytes instead of ${bytes}`);
  if (version !== undefined && found.version_id !== undefined && version !== found.version_id)
    throw differs(key, `it is version ${found.version_id} instead of ${version}`);
  return { key, bytes: found.bytes, sha256: digest, version_id: found.version_id ?? null };
}

/** Returns the error for an object that is not as it was recorded and so is not shared. */
export function differs(key: string, why: string): EvidenceError {
  return new EvidenceError('unreadable', `${key} differs from the record: ${why}; nothing was shared`, {
    nextStep: 'Check the archive: evidence verify.',
  });
}
