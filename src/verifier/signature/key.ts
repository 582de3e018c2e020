import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';

export interface PublicKey {
  /** Lower-case hex SHA-256 of the key's SubjectPublicKeyInfo in DER (RFC 5280 section 4.1). */
  id: string;
  key: KeyObject;
}

export interface SigningKey extends PublicKey {
  /** `KeyObject`, which neither prints nor serializes its contents. */
  secret: KeyObject;
}

const KINDS = 'Ed25519 or ECDSA on P-256';
const MAKE_ONE = 'Make a key with: evidence keygen --out signing.pem.';

/**
 * Reads a private key from PEM: PKCS #8, encrypted or not, or SEC 1.
 *
 * @param passphrase null if none is given.
 * @param source name for errors, e.g. of the file; errors never include the content.
 * @throws EvidenceError `config` if it is no such key, of another kind, or the passphrase is missing or wrong.
 */
export function readSigningKey(pem: string, passphrase: string | null, source: string): SigningKey {
  const secret = openPrivateKey(pem, passphrase, source);
  return { ...toPublicKey(createPublicKey(secret), source), secret };
}

function openPrivateKey(pem: string, passphrase: string | null, source: string): KeyObject {
  const isEncrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem))
    throw new EvidenceError('config', `${source} holds no private key in PEM`, { nextStep: MAKE_ONE });
  if (isEncrypted && passphrase === null)
    throw new EvidenceError('config', `the private key in ${source} is encrypted, and no passphrase is given`, {
      nextStep: 'Put the passphrase into EVIDENCE_SIGNING_PASSPHRASE, or its file into sign.passphrase_file.',
    });
  try {
    return createPrivateKey(passphrase === null ? pem : { key: pem, passphrase });
  } catch {
    // OpenSSL's message helps no one, and might quote the key.
    const why = isEncrypted ? 'cannot be decrypted: the passphrase is wrong, or the file is damaged' : 'cannot be read';
    throw new EvidenceError('config', `the private key in ${source} ${why}`, {
      nextStep: isEncrypted
        ? 'Give the passphrase that it was encrypted with, in EVIDENCE_SIGNING_PASSPHRASE or the file that sign.passphrase_file names.'
        : MAKE_ONE,
    });
  }
}

/**
 * Reads a public key from PEM (SubjectPublicKeyInfo).
 *
 * @param source name for errors.
 * @throws EvidenceError `config` for anything else, including a private key, which must not be in this place.
 */
export function readPublicKey(pem: string, source: string): PublicKey {
  const blocks = pem.match(/-----BEGIN [^-]*-----/g) ?? [];
  if (blocks.some((label) => label.includes('PRIVATE KEY')))
    throw new EvidenceError('config', `${source} holds a private key where a public one is asked for`, {
      nextStep: 'Give the file that lies beside it with .pub at its end, and keep the private key to yourself.',
    });
  if (blocks.length !== 1 || blocks[0] !== '-----BEGIN PUBLIC KEY-----')
    throw new EvidenceError('config', `${source} does not hold one public key in PEM`, {
      nextStep: 'It begins with -----BEGIN PUBLIC KEY-----; get it from those who sign, not from the archive.',
    });
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw new EvidenceError('config', `the public key in ${source} cannot be read`, { cause });
  }
  return toPublicKey(key, source);
}

/** Returns SubjectPublicKeyInfo in PEM, the same bytes for the same key. */
export function toPem({ key }: PublicKey): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function toPublicKey(key: KeyObject, source: string): PublicKey {
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const isP256 = asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  if (asymmetricKeyType !== 'ed25519' && !isP256)
    throw new EvidenceError('config', `the key in ${source} is of another kind than ${KINDS}`, { nextStep: MAKE_ONE });
  return { id: sha256(key.export({ type: 'spki', format: 'der' })), key };
}
