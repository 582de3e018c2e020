import { open } from 'node:fs/promises';
import type { Archive } from '../archive/archive.ts';
import type { Identities } from '../encryption/identities.ts';
import { isEvidenceError } from '../errors.ts';
import { encryptedBundleSchema, type RunStream, readRecord } from '../ledger/record.ts';
import { type Problem, toProblem } from './problem.ts';

type Encrypted = NonNullable<RunStream['bundle']['encrypted']>;

const AGE = 'age-encryption.org/v1\n';
const MAX_ANNOUNCED_BYTES = 256 * 2 ** 20;
const ANNOUNCED = /^runs\/([^/]+)\/encrypted\/([0-9a-f]{64})\.json$/;

/**
 * The zip in an encrypted bundle, as a file; null where it is not to be had here, which is no problem unless one is
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
  problems: Problem[],
): Promise<string | null> {
  if (identities === null) {
    if (!(await isOfAge(file)))
      problems.push(toProblem('object/unreadable', key, 'is recorded as encrypted by age, and is not'));
    return null;
  }
  const { decryptFile } = await import('../encryption/age.ts');
  try {
    const content = await decryptFile(file, target, identities);
    if (content === null) return null;
    if (content.sha256 === encrypted.sha256) return target;
    problems.push(
      toProblem('object/altered', key, 'decrypted, its SHA-256 is not the recorded one', {
        expected: encrypted.sha256,
        actual: content.sha256,
      }),
    );
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    problems.push(toProblem('object/unreadable', key, error.message));
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

/** Whether a key is that of what was written down of an encrypted bundle. */
export function isAnnounced(key: string): boolean {
  return ANNOUNCED.test(key);
}

/**
 * What was written down of an encrypted bundle before it was stored. One whose bundle never was is left by an
 * interruption, and says nothing of the run.
 */
export async function checkAnnounced(archive: Archive, key: string, streams: readonly RunStream[]): Promise<Problem[]> {
  const [, runId, digest] = ANNOUNCED.exec(key) ?? [];
  try {
    const announced = readRecord(encryptedBundleSchema, await archive.readBytes(key, MAX_ANNOUNCED_BYTES), key);
    if (announced.run_id !== runId || announced.bundle.sha256 !== digest)
      return [toProblem('record/differs', key, 'is not where a record of what it says belongs')];
    const stream = streams.find(({ bundle }) => bundle.sha256 === digest);
    if (stream === undefined || stream.stream_id === announced.stream_id) return [];
    return [toProblem('record/differs', key, `says that the bundle is of the stream "${announced.stream_id}"`)];
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return [toProblem('object/unreadable', key, error.message)];
  }
}
