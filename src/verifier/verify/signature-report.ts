import { countersignatureOf, type StoredLedgerEntry } from '../ledger/ledger.ts';
import { isCommon, publicKeyKey, runEnvelopeKey, runIdOf, runRecordKey } from '../records/keys.ts';
import type { ObjectFinding } from './object-finding.ts';
import type { Keyring } from './signatures.ts';

/** Result of judging whether the holders of the given public keys vouch for this archive. */
export interface SignatureReport {
  state: 'proved' | 'refuted' | 'unproved';
  reason?: string;
  /** Ids of the keys that signed ledger entries. */
  keys: string[];
  /** Number of the first signed entry. */
  from: number | null;
  findings: ObjectFinding[];
}

const UNSIGNED = 'nothing here is signed, so anyone who can replace all of it can do so unnoticed';
const NOT_PINNED =
  'there are signatures, but no public key was given to check them, so anyone who can replace all of it can do so unnoticed';
const UNKNOWN_KEY = 'the given keys do not vouch for all of it';

/** Signature of a run. */
interface SignedRun {
  /** Null if it cannot be read. */
  record: { signed: boolean } | null;
  attestations: { signedBy: string | null } | null;
}

/**
 * Warns about keys that signed nothing here. An interrupted signing leaves its key behind, and no key is trusted for
 * being in the archive. Warns about none if a signature cannot be read, because any key may be its own.
 */
export function warnOfUnusedKeys(
  { keys }: Keyring,
  entries: readonly StoredLedgerEntry[],
  checks: readonly SignedRun[],
): string[] {
  if (checks.some(({ record, attestations }) => record === null || (record.signed && attestations?.signedBy == null)))
    return [];
  const signers = [
    ...entries.flatMap(({ entry }) => [entry.signature?.keyid, countersignatureOf(entry)?.keyid]),
    ...checks.map(({ attestations }) => attestations?.signedBy),
  ];
  const used = new Set(signers.map((id) => (id == null ? '' : publicKeyKey(id))));
  return keys
    .filter((key) => !used.has(key))
    .map((key) => `${key} is a key that signed nothing here: a signing was interrupted, or someone put it there.`);
}

/** @param findings all findings of the verification. */
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
  if (facts.findings.some(({ severity }) => severity === 'error')) return { state: 'refuted', ...facts };
  if (pinned.size === 0) return unproved(signed.length === 0 ? UNSIGNED : NOT_PINNED);
  const broken = findings.find(({ code, key }) => code !== 'object/unexpected' && isOfSigning(key));
  if (broken !== undefined) return unproved(`${broken.key} is not intact`);
  if (facts.findings.length > 0) return unproved(UNKNOWN_KEY);
  return signed.length === 0 ? unproved('there is nothing to sign yet') : { state: 'proved', ...facts };
}

function isOfSignature({ code }: ObjectFinding): boolean {
  return code.startsWith('signature/');
}

/** Reports whether an object is signed, holds a signature or is a key. */
function isOfSigning(key: string): boolean {
  const runId = runIdOf(key);
  return isCommon(key) || (runId !== null && [runRecordKey(runId), runEnvelopeKey(runId)].includes(key));
}
