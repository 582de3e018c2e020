import { open } from 'node:fs/promises';
import { isEvidenceError } from '../../core/errors.ts';
import type { Identities } from '../encryption/identities.ts';
import type { RunStream } from '../records/record.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

type Encrypted = NonNullable<RunStream['bundle']['encrypted']>;

const AGE = 'age-encryption.org/v1\n';

/**
 * The zip in an encrypted bundle, as a file; null where it is not to be had here, which is no finding unless one is
 * added.
 *
 * @param file what age made of it, as recorded.
 * @param identities null where nobody gave any.
 */
export async function openEncrypted(
  identities: Identities | null,
  { key, encrypted }: { key: string; encrypted: Encrypted },
  file: string,
  target: string,
  findings: ObjectFinding[],
): Promise<string | null> {
  if (identities === null) {
    if (!(await isOfAge(file)))
      findings.push(toObjectFinding('object/unreadable', key, 'is recorded as encrypted by age, and is not'));
    return null;
  }
  const { decryptFile } = await import('../encryption/age.ts');
  try {
    const content = await decryptFile(file, target, identities);
    if (content === null) return null;
    if (content.sha256 === encrypted.sha256) return target;
    findings.push(
      toObjectFinding('object/altered', key, 'decrypted, its SHA-256 is not the recorded one', {
        expected: encrypted.sha256,
        actual: content.sha256,
      }),
    );
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    findings.push(toObjectFinding('object/unreadable', key, error.message));
  }
  return null;
}

/** By the first line of age's format (age-encryption.org/v1): nothing more can be told without a key. */
async function isOfAge(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(AGE.length), 0, AGE.length, 0);
    return buffer.subarray(0, bytesRead).toString('latin1') === AGE;
  } finally {
    await handle.close();
  }
}
