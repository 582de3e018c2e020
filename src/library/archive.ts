import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRoots } from '../core/timestamp/roots.ts';
import { openDirectoryArchive } from '../exporter/archive/directory/archive.ts';
import type { ReadableArchive } from '../verifier/archive/archive.ts';
import { readIdentities } from '../verifier/encryption/keys.ts';
import { readPublicKey } from '../verifier/signature/key.ts';
import type { ArchiveOptions } from '../verifier/verify/archive-reading.ts';
import type { ArchiveReport } from '../verifier/verify/archive-report.ts';
import { verifyNamedArchive } from '../verifier/verify/named-archive.ts';
import { type StampTrust, withRoots } from './roots.ts';

/** Facts that you know about an archive, and your trust anchors. */
export interface ArchiveTrust extends StampTrust {
  /** Public keys in PEM, one of which must have signed the archive. If absent, its signatures prove nothing. */
  publicKeys?: readonly string[];
  /** Roots of the authorities that stamped its runs, in PEM. */
  stampRoots?: string;
  /** Identities of age that decrypt bundles. */
  identities?: readonly string[];
}

/** Part of an archive to verify, and options. */
export interface ArchiveScope {
  /** Verifies only this run. */
  run?: string;
  /** Verifies only this run and later ones. */
  from?: string;
  /** Skips reading bundles whose SHA-256 the store itself attests. */
  fast?: boolean;
  /** Time until which every lock must last. */
  lockedUntil?: Date;
  /** Folder for decrypted bundles, which are deleted afterward. Default: the temporary folder of the system. */
  workDirectory?: string;
}

/**
 * Verifies an archive: the chain of its ledger, its signatures, and every run, bundle and object in it.
 *
 * @param source the folder of an archive, or a reader for an archive that is stored elsewhere.
 * @returns the report. An archive in which anything was altered, added or removed is `refuted`; this is not an error.
 * @throws EvidenceError `not-found` if there is no archive or no such run; `config` if another version wrote the
 * archive, or if keys, roots or the contract are invalid.
 *
 * @example
 * ```js
 * import { readFile } from 'node:fs/promises';
 * import { verifyArchive } from 'evidence-exporter';
 *
 * const report = await verifyArchive('evidence-archive', {
 *   now: new Date(),
 *   publicKeys: [await readFile('signing.pem.pub', 'utf8')],
 * });
 * for (const { run_id, outcome } of report.runs) console.log(run_id, outcome);
 * ```
 */
export async function verifyArchive(
  source: string | URL | ReadableArchive,
  trust: ArchiveTrust,
  scope: ArchiveScope = {},
): Promise<ArchiveReport> {
  const { run, workDirectory = tmpdir(), ...wanted } = scope;
  const options = toArchiveOptions(trust);
  const isFolder = typeof source === 'string' || source instanceof URL;
  const opened = isFolder ? await openFolder(source) : null;
  const archive = isFolder ? opened : source;
  const folder = await mkdtemp(join(workDirectory, 'evidence-verify-'));
  try {
    const root = archive?.url ?? String(source);
    return await verifyNamedArchive(archive, root, run ?? null, { ...options, ...wanted, workDirectory: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await opened?.close();
  }
}

function toArchiveOptions({ publicKeys = [], stampRoots, identities, ...trust }: ArchiveTrust) {
  const given = (identities ?? []).map((text, index) => ({ text, source: `identities[${index}]` }));
  return {
    ...withRoots(trust),
    publicKeys: publicKeys.map((pem, index) => readPublicKey(pem, `publicKeys[${index}]`)),
    stampRoots: stampRoots === undefined ? null : readRoots(stampRoots, 'stampRoots'),
    identities: identities === undefined ? null : readIdentities(given),
  } satisfies ArchiveOptions & { identities: unknown };
}

/** Opens the archive in a folder; returns null if there is no such folder. */
async function openFolder(source: string | URL) {
  const path = source instanceof URL ? fileURLToPath(source) : source;
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? openDirectoryArchive(path, { create: false }) : null;
}
