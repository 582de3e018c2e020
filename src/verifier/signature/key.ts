import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/digest.ts';
import { type ErrorDetails, EvidenceError } from '../../core/errors.ts';

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

/** @param details of the error for a key of another kind. */
export function toPublicKey(key: KeyObject, source: string, details: ErrorDetails = {}): PublicKey {
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const isP256 = asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  if (asymmetricKeyType !== 'ed25519' && !isP256)
    throw new EvidenceError('config', `the key in ${source} is of another kind than ${KINDS}`, details);
  return { id: sha256(key.export({ type: 'spki', format: 'der' })), key };
}
