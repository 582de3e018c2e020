import { open } from 'node:fs/promises';
import { isEvidenceError } from '../../core/errors.ts';
import type { Identities } from '../encryption/identities.ts';
import type { RunStream } from '../records/record.ts';
import { type Checked, checked } from './checked.ts';
import { toObjectFinding } from './object-finding.ts';

type Encrypted = NonNullable<RunStream['bundle']['encrypted']>;

const AGE = 'age-encryption.org/v1\n';

/**
 * Decrypts a bundle: the path of its zip; `encrypted` without an identity for it; `gone` for one that is altered.
 * @param file what age made of it, as recorded.
 * @param identities null where nobody gave any.
 */
export async function openEncrypted(
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
      : gone('object/unreadable', key, 'is recorded as encrypted by age, and is not');
  const { decryptFile } = await import('../encryption/age.ts');
  try {
    const content = await decryptFile(file, target, identities);
    if (content === null) return checked('encrypted');
    if (content.sha256 === encrypted.sha256) return checked(target);
    const values = { expected: encrypted.sha256, actual: content.sha256 };
    return gone('object/altered', key, 'decrypted, its SHA-256 is not the recorded one', values);
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return gone('object/unreadable', key, error.message);
  }
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
