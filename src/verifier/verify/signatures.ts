import { isEvidenceError } from '../../core/errors.ts';
import type { Archive } from '../archive/archive.ts';
import { runOf, type StoredLedgerEntry, signedPart } from '../ledger/ledger.ts';
import { isCommon, publicKeyIdOf, publicKeyKey, runEnvelopeKey, runIdOf, runRecordKey } from '../records/keys.ts';
import { isSignedBy, type Signature, type Signed } from '../signature/envelope.ts';
import { type PublicKey, readPublicKey, toPem } from '../signature/key.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';

/** Whether those who hold the private keys of the public keys that were given vouch for this archive. */
export interface SignatureReport {
  state: 'proved' | 'refuted' | 'unproved';
  reason?: string;
  /** Ids of the keys that ledger entries are signed with. */
  keys: string[];
  /** Number of the first signed entry. */
  from: number | null;
  findings: ObjectFinding[];
}

/** The keys that signatures are checked with, by id. */
export interface Keyring {
  /** Given by the reader: the only ones whose signatures prove anything. */
  pinned: ReadonlyMap<string, PublicKey>;
  /** Found in the archive itself: a signature that does not even fit these was altered. */
  archived: ReadonlyMap<string, PublicKey>;
  /** The objects that it accounts for. */
  keys: string[];
  /** They could not be listed, so that any key may be there. */
  isClosed: boolean;
  findings: ObjectFinding[];
}

const UNSIGNED = 'nothing here is signed, so whoever can replace all of it can replace it unseen';
const NOT_PINNED =
  'there are signatures, but no public key was given to judge them by, so whoever can replace all of it can replace it unseen';
const MAX_KEY_BYTES = 16 * 1024;

export async function readKeyring(
  archive: Archive,
  keys: ReadonlySet<string>,
  pinned: readonly PublicKey[],
  isClosed = false,
): Promise<Keyring> {
  const archived = new Map<string, PublicKey>();
  const keyring: Keyring = { pinned: byId(pinned), archived, keys: [], isClosed, findings: [] };
  for (const key of keys) {
    const id = publicKeyIdOf(key);
    if (id === null) continue;
    keyring.keys.push(key);
    try {
      const pem = Buffer.from(await archive.readBytes(key, MAX_KEY_BYTES)).toString('latin1');
      const found = readPublicKey(pem, key);
      if (found.id === id && toPem(found) === pem) archived.set(id, found);
      else keyring.findings.push(toObjectFinding('object/altered', key, 'is not the key that its name says'));
    } catch (error) {
      if (!isEvidenceError(error)) throw error;
      keyring.findings.push(toUnreadable(key, error));
    }
  }
  return keyring;
}

/** What is signed itself, what a signature stands in, and what it is checked with. */
function isOfSigning(key: string): boolean {
  const runId = runIdOf(key);
  return isCommon(key) || (runId !== null && [runRecordKey(runId), runEnvelopeKey(runId)].includes(key));
}

function byId(keys: readonly PublicKey[]): Map<string, PublicKey> {
  return new Map(keys.map((key) => [key.id, key]));
}

/**
 * What is wrong with a signature; null for one that holds, if by no more than a key of the archive's own.
 * @param object that carries it.
 */
export function checkSignature(
  { pinned, archived, keys, isClosed }: Keyring,
  object: string,
  signed: Signed,
  signature: Signature,
): ObjectFinding | null {
  const { keyid } = signature;
  if (pinned.size > 0 && !pinned.has(keyid))
    return toObjectFinding('signature/untrusted', object, 'is signed with a key that is none of those given', {
      expected: [...pinned.keys()].join(' or '),
      actual: keyid,
    });
  const key = pinned.get(keyid) ?? archived.get(keyid);
  if (key !== undefined && !isSignedBy(signed, signature, key))
    return toObjectFinding('signature/mismatch', object, `its signature is not one by the key ${keyid}`);
  // A key that is there but is not what it should be has been reported.
  if (isClosed || keys.includes(publicKeyKey(keyid))) return null;
  return toObjectFinding('object/missing', publicKeyKey(keyid), `is the key that ${object} is signed with`);
}

/**
 * The signatures of the ledger. From the first signed entry on every one must be signed: the chain makes each vouch for
 * all before it, so nobody without the key can change, leave out or put in anything up to the last one; what follows a
 * signed entry without a signature of its own is what somebody without the key would have to put there.
 * @param signedRuns ids of the runs whose records say that they are signed: so must be their entries.
 */
export function checkLedgerSignatures(
  entries: readonly StoredLedgerEntry[],
  keyring: Keyring,
  signedRuns: ReadonlySet<string>,
): ObjectFinding[] {
  const findings: ObjectFinding[] = [];
  let isSigned = false;
  for (const { key, entry } of entries) {
    const { signature } = entry;
    if (signature === undefined) {
      const runId = runOf(entry)?.id ?? '';
      if (isSigned)
        findings.push(toObjectFinding('signature/missing', key, 'is not signed, and an entry before it is'));
      else if (signedRuns.has(runId))
        findings.push(
          toObjectFinding('signature/missing', key, `is not signed, and the record of run ${runId} says that it is`),
        );
      continue;
    }
    isSigned = true;
    const finding = checkSignature(keyring, key, signedPart(entry), signature);
    if (finding !== null) findings.push(finding);
  }
  const newest = entries.at(-1);
  if (keyring.pinned.size > 0 && !isSigned && newest !== undefined)
    findings.push(
      toObjectFinding(
        'signature/missing',
        newest.key,
        'is not signed, nor is any entry before it, and a public key was given',
      ),
    );
  return findings;
}

/** A run as far as its signature goes. */
interface SignedRun {
  /** Null when it cannot be read. */
  record: { signed: boolean } | null;
  attestations: { signedBy: string | null } | null;
}

/** Keys that nothing here is signed with. Where a signature cannot be read, its key may be any of them. */
export function findUnusedKeys(
  { keys }: Keyring,
  entries: readonly StoredLedgerEntry[],
  checks: readonly SignedRun[],
): ObjectFinding[] {
  if (checks.some(({ record, attestations }) => record === null || (record.signed && attestations?.signedBy == null)))
    return [];
  const signers = [
    ...entries.map(({ entry }) => entry.signature?.keyid),
    ...checks.map(({ attestations }) => attestations?.signedBy),
  ];
  const used = new Set(signers.map((id) => (id == null ? '' : publicKeyKey(id))));
  return keys
    .filter((key) => !used.has(key))
    .map((key) =>
      toObjectFinding(
        'object/unexpected',
        key,
        'is a key that nothing here is signed with: it was put there, or left by a signing that was interrupted',
      ),
    );
}

/** @param findings all that were found. */
export function judgeSignatures(
  { pinned }: Keyring,
  entries: readonly StoredLedgerEntry[],
  findings: readonly ObjectFinding[],
): SignatureReport {
  const signed = entries.filter(({ entry }) => entry.signature !== undefined);
  const facts = {
    keys: [...new Set(signed.map(({ entry }) => entry.signature?.keyid ?? ''))],
    from: signed[0]?.entry.number ?? null,
    findings: findings.filter(isOfSignature),
  };
  const unproved = (reason: string): SignatureReport => ({ state: 'unproved', reason, ...facts });
  if (facts.findings.length > 0) return { state: 'refuted', ...facts };
  if (pinned.size === 0) return unproved(signed.length === 0 ? UNSIGNED : NOT_PINNED);
  const broken = findings.find(({ code, key }) => code !== 'object/unexpected' && isOfSigning(key));
  if (broken !== undefined) return unproved(`${broken.key} is not as it should be`);
  return signed.length === 0 ? unproved('there is nothing yet that could be signed') : { state: 'proved', ...facts };
}

function isOfSignature({ code }: ObjectFinding): boolean {
  return code.startsWith('signature/');
}
