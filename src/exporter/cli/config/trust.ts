import { toHmacKey } from '../../../core/digest.ts';
import { EvidenceError } from '../../../core/errors.ts';
import type { Certificate } from '../../../core/timestamp/certificate.ts';
import { readRoots } from '../../../core/timestamp/roots.ts';
import type { Identities, Recipients } from '../../../verifier/encryption/keys.ts';
import type { SealKeys } from '../../../verifier/model/entry.ts';
import { type PublicKey, readPublicKey } from '../../../verifier/signature/key.ts';
import type { Config } from './config.ts';
import { readGivenFile, readGivenText, refuseOpen } from './given-file.ts';

/**
 * Reads the seal keys from their files. A file contains `hex:…`, `base64:…`, or the key's text; a final line feed is
 * not part of the key.
 */
export function readSealKeys(files: Config['verify']['sealKeyFiles']): SealKeys {
  return new Map([...files].map(([id, { path }]) => [id, toHmacKey(readKey(id, path))] as const));
}

function readKey(id: string, path: string): Uint8Array {
  const text = readGivenFile(`the seal key "${id}"`, path)
    .toString('latin1')
    .replace(/\r?\n$/, '');
  const key = decode(text);
  // A key that is decoded wrongly would refute genuine seals.
  if (key === null)
    throw new EvidenceError('config', `the file of the seal key "${id}", ${path}, is not valid hex or base64`);
  if (key.length === 0) throw new EvidenceError('config', `the file of the seal key "${id}", ${path}, contains no key`);
  return key;
}

function decode(text: string): Buffer | null {
  const [, encoding, digits] = /^(hex|base64):(.*)$/s.exec(text) ?? [];
  if (digits === undefined) return Buffer.from(text, 'latin1');
  const key = Buffer.from(digits, encoding as 'hex' | 'base64');
  const same =
    encoding === 'hex'
      ? key.toString('hex') === digits.toLowerCase()
      : key.toString('base64').replace(/=+$/, '') === digits.replace(/=+$/, '');
  return same ? key : null;
}

/**
 * Reads the trusted roots of time-stamping authorities; null without a file, so that none are pinned. @param name of
 * the setting in evidence.yaml.
 */
export function readTimestampRoots(
  path: string | null,
  name = 'verify.timestamp_roots',
): readonly Certificate[] | null {
  if (path === null) return null;
  return readRoots(readGivenText('the time-stamping roots', path), `${path} (${name})`);
}

/** Reads the keys that an archive must be signed with. Without keys, its signatures prove nothing to this reader. */
export function readPublicKeys(files: readonly string[]): PublicKey[] {
  return files.map((path) => readPublicKey(readGivenText('the public key', path), path));
}

/**
 * Opens the recipients that bundles are encrypted to; null if bundles are not encrypted. @throws EvidenceError `config`
 * with the invalid recipient.
 */
export async function openRecipients(encryptTo: readonly string[]): Promise<Recipients | null> {
  if (encryptTo.length === 0) return null;
  const { readRecipients } = await import('../../../verifier/encryption/keys.ts');
  return readRecipients(encryptTo, 'archive.encrypt_to');
}

/** Opens the identities that decrypt bundles; null for none. @throws EvidenceError `config`. */
export async function openIdentities(files: readonly string[]): Promise<Identities | null> {
  if (files.length === 0) return null;
  const { readIdentities } = await import('../../../verifier/encryption/keys.ts');
  const identities = readIdentities(files.map((path) => ({ text: readGivenText('the identity', path), source: path })));
  for (const path of files) refuseOpen('the identity', path);
  return identities;
}
