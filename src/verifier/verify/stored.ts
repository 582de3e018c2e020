import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import type { Archive } from '../archive/archive.ts';
import { measure } from '../archive/content.ts';
import { isOfFile } from '../archive/failure.ts';
import type { Identities } from '../encryption/identities.ts';
import type { RunStream } from '../records/record.ts';
import { openEncrypted } from './encrypted.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';

/**
 * Returns what `read` makes of an object; null, and a finding, where the object is not to be read: a link, a device,
 * bytes that are no record, or more of them than any has. One such object says nothing of the others.
 */
export async function readObject<T>(key: string, findings: ObjectFinding[], read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable') && !isOfFile(error)) throw error;
    findings.push(toUnreadable(key, error));
    return null;
  }
}

/** Reports whether an object that is recorded is there. */
export async function isThere(archive: Archive, key: string, findings: ObjectFinding[]): Promise<boolean> {
  const found = await readObject(key, findings, async () => ({ stats: await archive.stat(key) }));
  if (found?.stats === null) findings.push(toObjectFinding('object/missing', key, 'is recorded, but it is not there'));
  return found !== null && found.stats !== null;
}

/** Checks that the object has the length and digest that a record states. */
export function checkDigest(
  stored: { key: string; bytes: number; sha256: string },
  actual: { bytes: number; sha256: string },
  findings: ObjectFinding[],
): void {
  if (actual.sha256 === stored.sha256) return;
  findings.push(
    toObjectFinding(
      'object/altered',
      stored.key,
      `its SHA-256 is not the recorded one (${actual.bytes} bytes, ${stored.bytes} recorded)`,
      { expected: stored.sha256, actual: actual.sha256 },
    ),
  );
}

/** Reports whether the store holds the object, by itself, to the digest that is recorded. */
export async function isAttested(
  { locks }: Archive,
  { key, bytes, sha256: digest }: RunStream['bundle'],
): Promise<boolean> {
  const found = (await locks?.inspect(key)) ?? null;
  return found?.sha256 === digest && found.bytes === bytes;
}

/** The zip of a bundle, once the object was compared with its digest. */
export async function fetchBundle(
  { archive, identities = null }: { archive: Archive; identities?: Identities | null },
  bundle: RunStream['bundle'],
  folder: string,
  findings: ObjectFinding[],
): Promise<string | 'gone' | 'encrypted'> {
  if (!(await isThere(archive, bundle.key, findings))) return 'gone';
  const { key, encrypted } = bundle;
  const fetched = await readObject(key, findings, async () => {
    const file = await archive.fetchFile(key, folder);
    return { file, actual: await measure(createReadStream(file)) };
  });
  if (fetched === null) return 'gone';
  const { file, actual } = fetched;
  const found = findings.length;
  checkDigest(bundle, actual, findings);
  if (encrypted === undefined) return file;
  // A bundle that somebody altered is not decrypted: it is no bundle any more.
  if (findings.length > found) return 'gone';
  const opened = await openEncrypted(identities, { key, encrypted }, file, join(folder, 'decrypted.zip'), findings);
  return opened ?? (findings.length > found ? 'gone' : 'encrypted');
}
