import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { EvidenceError } from '../../core/errors.ts';
import { type SigningKey, toPublicKey } from '../../verifier/signature/key.ts';

const MAKE_ONE = { nextStep: 'Make a key with: evidence keygen --out signing.pem.' };
const GIVE_PASSPHRASE = {
  nextStep: 'Set EVIDENCE_SIGNING_PASSPHRASE, or the content of sign.passphrase_file, to its passphrase.',
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
    throw new EvidenceError('config', `${source} contains no PEM private key`, MAKE_ONE);
  if (isEncrypted && passphrase === null)
    throw new EvidenceError('config', `the private key in ${source} is encrypted, but no passphrase is given`, {
      nextStep: 'Set EVIDENCE_SIGNING_PASSPHRASE to the passphrase, or sign.passphrase_file to its file.',
    });
  try {
    return createPrivateKey(passphrase === null ? pem : { key: pem, passphrase });
  } catch {
    // OpenSSL's message helps no one, and might quote the key.
    const why = isEncrypted ? 'cannot be decrypted: the passphrase is wrong, or the file is damaged' : 'cannot be read';
    throw new EvidenceError('config', `the private key in ${source} ${why}`, isEncrypted ? GIVE_PASSPHRASE : MAKE_ONE);
  }
}
