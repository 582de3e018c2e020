import { EvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../../verifier/archive/archive.ts';
import { countersignatureOf, type StoredLedgerEntry, signedPart } from '../../verifier/ledger/ledger.ts';
import { isSignedBy } from '../../verifier/signature/envelope.ts';
import type { PublicKey, SigningKey } from '../../verifier/signature/key.ts';
import { verifyCommand } from './verify-command.ts';

/** Keys whose ledger entries are trusted, and the key that signs the next one. */
export interface LedgerTrust {
  /** Null if entries are not signed. */
  signingKey: SigningKey | null;
  /** Earlier signing keys. */
  publicKeys: readonly PublicKey[];
  /** True if the operator states that nothing was signed until now, and vouches for the existing entries. */
  beginSigning?: boolean;
}

/**
 * Refuses to continue the ledger
 *
 * - without a signature after a signed entry, because removed signatures leave the same gap;
 * - after an entry that no given key signed;
 * - with a first signature, which vouches for all earlier entries, if no one vouches for those.
 *
 * @throws EvidenceError `config`; `unreadable` if an entry is not the signed one.
 */
export function requireTrusted(archive: ReadableArchive, previous: StoredLedgerEntry | null, trust: LedgerTrust): void {
  const { signingKey, publicKeys } = trust;
  if (previous === null) return;
  const { signature } = previous.entry;
  if (signature === undefined) {
    if (signingKey === null || trust.beginSigning === true) return;
    throw new EvidenceError(
      'config',
      `a signing key is given, but ${previous.key} is not signed: anyone who can write to the archive could have forged it and all earlier entries`,
      {
        nextStep:
          'Nothing was signed. If runs were not signed until now, verify the archive, then add --begin-signing once.',
      },
    );
  }
  if (signingKey === null)
    throw new EvidenceError('config', `${previous.key} is signed, but no signing key is given`, {
      nextStep: 'Name the key in sign.key_file; if it is lost, make a new one: evidence keygen --out signing.pem.',
    });
  // Both keys vouch for a hand-over, so either is enough to continue.
  const signatures = [signature, countersignatureOf(previous.entry)].filter((one) => one !== undefined);
  const keys = [signingKey, ...publicKeys];
  const known = signatures.flatMap((one) => keys.filter(({ id }) => id === one.keyid).map((key) => ({ key, one })));
  if (known.length === 0)
    throw new EvidenceError('config', `${previous.key} is signed with the unknown key ${signature.keyid}`, {
      nextStep:
        'If this was the previous signing key, add its public key to verify.public_keys; otherwise verify the archive.',
    });
  const signed = signedPart(previous.entry);
  const wrong = known.find(({ key, one }) => !isSignedBy(signed, one, key));
  if (wrong === undefined) return;
  throw new EvidenceError('unreadable', `${previous.key} is not the entry that the key ${wrong.key.id} signed`, {
    nextStep: `Nothing was added to it. Check the archive: ${verifyCommand(archive)}.`,
  });
}

/** Refuses to sign with a key that handed over to another one. @throws EvidenceError `usage`. */
export function refuseHandedOver({ key, entry }: StoredLedgerEntry, { signingKey }: LedgerTrust): void {
  const { signature } = entry;
  if (!('hands_over_to' in entry) || signingKey === null || signature?.keyid !== signingKey.id) return;
  if (!isSignedBy(signedPart(entry), signature, signingKey)) return;
  throw new EvidenceError(
    'usage',
    `the signing key ${signingKey.id} handed over to the key ${entry.hands_over_to} in ${key} and can no longer sign`,
    { nextStep: 'Nothing was signed. Name the file of the new key in sign.key_file.' },
  );
}
