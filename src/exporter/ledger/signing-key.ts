import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { EvidenceError } from '../../core/errors.ts';
import { type SigningKey, toPublicKey } from '../../verifier/signature/key.ts';

const MAKE_ONE = { nextStep: 'Make a key with: evidence keygen --out signing.pem.' };
const GIVE_PASSPHRASE = {
  nextStep:
    'Give the passphrase that it was encrypted with, in EVIDENCE_SIGNING_PASSPHRASE or the file that sign.passphrase_file names.',
};

/**
 * Reads a private key from PEM: PKCS #8, encrypted or not, or SEC 1.
 *
 * @param passphrase null if none is given.
 * @param source name for errors, e.g. of the file; errors never include the content.
 * @throws EvidenceError `config` if it is no such key, of another kind, or the passphrase is missing or wrong.
 */
export function readSigningKey(pem: string, passphrase: string | null, source: string): SigningKey {
  const secret = openPrivateKey(pem, passphrase, source);
  return { ...toPublicKey(createPublicKey(secret), source, MAKE_ONE), secret };
}

function openPrivateKey(pem: string, passphrase: string | null, source: string): KeyObject {
  const isEncrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem))
    throw new EvidenceError('config', `${source} holds no private key in PEM`, MAKE_ONE);
  if (isEncrypted && passphrase === null)
    throw new EvidenceError('config', `the private key in ${source} is encrypted, and no passphrase is given`, {
      nextStep: 'Put the passphrase into EVIDENCE_SIGNING_PASSPHRASE, or its file into sign.passphrase_file.',
    });
  try {
    return createPrivateKey(passphrase === null ? pem : { key: pem, passphrase });
  } catch {
    // OpenSSL's message helps no one, and might quote the key.
    const why = isEncrypted ? 'cannot be decrypted: the passphrase is wrong, or the file is damaged' : 'cannot be read';
    throw new EvidenceError('config', `the private key in ${source} ${why}`, isEncrypted ? GIVE_PASSPHRASE : MAKE_ONE);
  }
}
