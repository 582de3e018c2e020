import { isEvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { countersignatureOf, runOf, type StoredLedgerEntry, signedPart } from '../ledger/ledger.ts';
import { publicKeyIdOf, publicKeyKey, runRecordKey } from '../records/keys.ts';
import { isSignedBy, type Signature, type Signed } from '../signature/envelope.ts';
import { type PublicKey, readPublicKey, toPem } from '../signature/key.ts';
import { followKeys, type KeyTrust, type KnownKeys } from './key-trust.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';

/** Keys of an archive. Pinned keys prove something; archived keys only show that a signature was altered. */
export interface Keyring extends KnownKeys {
  /** Signers to whom the pinned keys lead. */
  trust: KeyTrust;
  /** Keys of the objects that the keyring accounts for. */
  keys: string[];
  /** True if the keys could not be listed, so that any key may exist. */
  isClosed: boolean;
  findings: ObjectFinding[];
}

const MAX_KEY_BYTES = 16 * 1024;

export async function readKeyring(
  archive: ReadableArchive,
  keys: ReadonlySet<string>,
  publicKeys: readonly PublicKey[],
  { entries, isClosed }: { entries: readonly StoredLedgerEntry[]; isClosed: boolean },
): Promise<Keyring> {
  const archived = new Map<string, PublicKey>();
  const pinned = byId(publicKeys);
  const found: string[] = [];
  const findings: ObjectFinding[] = [];
  for (const key of keys) {
    const id = publicKeyIdOf(key);
    if (id === null) continue;
    found.push(key);
    try {
      const pem = Buffer.from(await archive.readBytes(key, MAX_KEY_BYTES)).toString('latin1');
      const read = readPublicKey(pem, key);
      if (read.id === id && toPem(read) === pem) archived.set(id, read);
      else findings.push(toObjectFinding('object/altered', key, 'is not the key that its name states'));
    } catch (error) {
      if (!isEvidenceError(error)) throw error;
      findings.push(toUnreadable(key, error));
    }
  }
  const trust = followKeys({ pinned, archived }, entries);
  return { pinned, archived, trust, keys: found, isClosed, findings };
}

function byId(keys: readonly PublicKey[]): Map<string, PublicKey> {
  return new Map(keys.map((key) => [key.id, key]));
}

/**
 * Checks the signature of a run's statement; null if it holds, even if only by a key from the archive. If the run's
 * ledger entry is vouched for, a statement signed with another key replaced the original.
 */
export function checkRunSignature(
  keyring: Keyring,
  { key, signed, signature }: { key: string; signed: Signed; signature: Signature },
  run: { id: string; sha256: string },
): ObjectFinding | null {
  const { pinned, trust } = keyring;
  const { keyid } = signature;
  if (pinned.size === 0 || trust.signers.has(keyid)) return checkBytes(keyring, key, signed, signature);
  if (trust.vouched.size === 0 || trust.runs.get(run.id) === run.sha256) return untrusted(keyring, key, keyid);
  return checkBytes(keyring, key, signed, signature) ?? unknownKey(keyring, key, keyid);
}

/**
 * Reports whether trusted keys vouch for a run: a trusted signer signed its statement, and a vouched ledger entry
 * records it.
 */
export function isRunVouchedFor(
  { pinned, trust }: Keyring,
  signedBy: string | null,
  run: { id: string; sha256: string },
): boolean {
  if (pinned.size === 0 || signedBy === null || !trust.signers.has(signedBy)) return false;
  return trust.runs.get(run.id) === run.sha256;
}

function untrusted({ pinned }: Keyring, object: string, keyid: string): ObjectFinding {
  return toObjectFinding('signature/untrusted', object, 'is signed with a key that was not given', {
    expected: [...pinned.keys()].join(' or '),
    actual: keyid,
  });
}

function unknownKey({ pinned }: Keyring, object: string, keyid: string): ObjectFinding {
  const message = 'is signed with a key that was not given and to which no given key handed over';
  return toObjectFinding('signature/unknown-key', object, message, {
    expected: [...pinned.keys()].join(' or '),
    actual: keyid,
  });
}

/** Checks a signature with the key of its id, pinned or archived. */
function checkBytes(
  { pinned, archived, keys, isClosed }: Keyring,
  object: string,
  signed: Signed,
  signature: Signature,
): ObjectFinding | null {
  const { keyid } = signature;
  const key = pinned.get(keyid) ?? archived.get(keyid);
  if (key !== undefined && !isSignedBy(signed, signature, key))
    return toObjectFinding('signature/mismatch', object, `its signature was not made by the key ${keyid}`);
  // An archived key that is damaged was already reported.
  if (isClosed || keys.includes(publicKeyKey(keyid))) return null;
  return toObjectFinding('object/missing', publicKeyKey(keyid), `is the key that ${object} is signed with`);
}

/**
 * Checks the signatures of the ledger. From the first signed entry on, every entry must be signed. Through the chain,
 * each signature vouches for all earlier entries, so no one without the key can change, drop or insert an entry before
 * the last signed one; anything added later would lack a signature.
 * @param signedRuns ids of runs whose records say that they are signed, as their entries must be.
 */
export function checkLedgerSignatures(
  entries: readonly StoredLedgerEntry[],
  keyring: Keyring,
  signedRuns: ReadonlySet<string>,
  inScope: (runId: string) => boolean,
): ObjectFinding[] {
  const findings: ObjectFinding[] = [];
  let isSigned = false;
  for (const stored of entries) {
    const { key, entry } = stored;
    if (entry.signature === undefined) {
      const runId = runOf(entry)?.id ?? '';
      if (isSigned)
        findings.push(toObjectFinding('signature/missing', key, 'is not signed, but an entry before it is'));
      else if (signedRuns.has(runId))
        findings.push(
          toObjectFinding('signature/missing', key, `is not signed, but the record of run ${runId} says that it is`),
        );
      continue;
    }
    isSigned = true;
    findings.push(...checkEntrySignatures(keyring, stored, entry.signature, inScope));
  }
  const newest = entries.at(-1);
  if (keyring.pinned.size > 0 && !isSigned && newest !== undefined)
    findings.push(
      toObjectFinding(
        'signature/missing',
        newest.key,
        'is not signed, nor is any entry before it, but a public key was given',
      ),
    );
  return findings;
}

/** Finds runs outside the ledger that no export left there: unsigned, and made after signing began. */
export function checkUnsignedRuns(
  entries: readonly StoredLedgerEntry[],
  checks: readonly { runId: string; isRecorded: boolean; record: { signed: boolean; finished_at: string } | null }[],
): ObjectFinding[] {
  const first = entries.find(({ entry }) => entry.signature !== undefined);
  if (first === undefined) return [];
  const began = Date.parse(first.entry.created_at);
  return checks
    .filter(({ isRecorded, record }) => !isRecorded && record !== null && !record.signed)
    .filter(({ record }) => !(Date.parse(record?.finished_at ?? '') < began))
    .map(({ runId }) =>
      toObjectFinding('signature/missing', runRecordKey(runId), `is not signed, but ${first.key}, which is older, is`),
    );
}

/** Checks the signatures of an entry. An entry of a run out of scope leaves nothing open if no one vouches for it. */
function checkEntrySignatures(
  keyring: Keyring,
  { key, entry }: StoredLedgerEntry,
  signature: Signature,
  inScope: (runId: string) => boolean,
): ObjectFinding[] {
  const { pinned, trust } = keyring;
  const { keyid } = signature;
  const signatures = [signature, countersignatureOf(entry)].filter((one) => one !== undefined);
  const signed = signedPart(entry);
  const wrong = signatures.flatMap((one) => checkBytes(keyring, key, signed, one) ?? []);
  // A signature that no key made says nothing about its owner.
  if (wrong.some(({ code }) => code === 'signature/mismatch')) return wrong;
  const handedOver = trust.retired.get(keyid);
  if (handedOver !== undefined && handedOver < entry.number)
    return [
      toObjectFinding(
        'signature/untrusted',
        key,
        `is signed with the key ${keyid}, which handed over to another key in entry ${handedOver}`,
      ),
    ];
  const isOther = pinned.size > 0 && !trust.vouched.has(entry.number);
  if (isOther && trust.vouched.size === 0) return [untrusted(keyring, key, keyid)];
  if (wrong.length > 0 || !isOther || !inScope(runOf(entry)?.id ?? '')) return wrong;
  return [unknownKey(keyring, key, keyid)];
}
