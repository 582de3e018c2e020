import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import { measure, type ReadableArchive } from '../archive/archive.ts';
import type { Identities } from '../encryption/keys.ts';
import type { RunStream } from '../records/record.ts';
import { type Checked, checked, type ObjectFinding, readObject, toObjectFinding } from './object-finding.ts';

/** Checks that a recorded object exists. */
export async function isThere(archive: ReadableArchive, key: string): Promise<Checked<boolean>> {
  const { value: found, findings } = await readObject(key, async () => ({ stats: await archive.stat(key) }));
  if (found === null) return { value: false, findings };
  if (found.stats !== null) return checked(true);
  return { value: false, findings: [toObjectFinding('object/missing', key, 'is recorded, but missing')] };
}

/** Checks that an object has the recorded digest. */
export function checkDigest(
  stored: { key: string; bytes: number; sha256: string },
  actual: { bytes: number; sha256: string },
): ObjectFinding[] {
  if (actual.sha256 === stored.sha256) return [];
  const message = `its SHA-256 differs from the recorded one (${actual.bytes} bytes, ${stored.bytes} recorded)`;
  const values = { expected: stored.sha256, actual: actual.sha256 };
  return [toObjectFinding('object/altered', stored.key, message, values)];
}

/** Reports whether the store itself attests the recorded digest of the object. */
export async function isAttested(
  { locks }: ReadableArchive,
  { key, bytes, sha256: digest }: RunStream['bundle'],
): Promise<boolean> {
  const found = (await locks?.inspect(key)) ?? null;
  return found?.sha256 === digest && found.bytes === bytes;
}

/** Fetches the zip of a bundle and checks its digest. */
export async function fetchBundle(
  { archive, identities = null }: { archive: ReadableArchive; identities?: Identities | null },
  bundle: RunStream['bundle'],
  folder: string,
): Promise<Checked<string | 'gone' | 'encrypted'>> {
  const { key, encrypted } = bundle;
  const there = await isThere(archive, key);
  if (!there.value) return { value: 'gone', findings: there.findings };
  const fetched = await readObject(key, async () => {
    const file = await archive.fetchFile(key, folder);
    return { file, actual: await measure(createReadStream(file)) };
  });
  if (fetched.value === null) return { value: 'gone', findings: fetched.findings };
  const { file, actual } = fetched.value;
  const altered = checkDigest(bundle, actual);
  if (encrypted === undefined) return { value: file, findings: altered };
  // An altered bundle is not decrypted, because it is no bundle any more.
  if (altered.length > 0) return { value: 'gone', findings: altered };
  return openEncrypted(identities, { key, encrypted }, file, join(folder, 'decrypted.zip'));
}

type Encrypted = NonNullable<RunStream['bundle']['encrypted']>;

const AGE = 'age-encryption.org/v1\n';

/**
 * Decrypts a bundle and returns the path of its zip; `encrypted` if no identity fits, `gone` if it is damaged.
 * @param file encrypted file, as recorded.
 * @param identities null if none were given.
 */
async function openEncrypted(
  identities: Identities | null,
  { key, encrypted }: { key: string; encrypted: Encrypted },
  file: string,
  target: string,
): Promise<Checked<string | 'gone' | 'encrypted'>> {
  const gone = (...found: Parameters<typeof toObjectFinding>) => ({
    value: 'gone',
    findings: [toObjectFinding(...found)],
  });
  if (identities === null)
    return (await isOfAge(file))
      ? checked('encrypted')
      : gone('object/unreadable', key, 'is recorded as encrypted with age, but is not');
  const { decryptFile } = await import('../encryption/age.ts');
  try {
    const content = await decryptFile(file, target, identities);
    if (content === null) return checked('encrypted');
    if (content.sha256 === encrypted.sha256) return checked(target);
    const values = { expected: encrypted.sha256, actual: content.sha256 };
    return gone('object/altered', key, 'decrypted, its SHA-256 differs from the recorded one', values);
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return gone('object/unreadable', key, error.message);
  }
}

/**
 * Reports whether a file begins with the first line of age's format (age-encryption.org/v1), all that can be checked
 * without a key.
 */
async function isOfAge(file: string): Promise<boolean> {
  await using handle = await open(file, 'r');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(AGE.length), 0, AGE.length, 0);
  return buffer.subarray(0, bytesRead).toString('latin1') === AGE;
}
