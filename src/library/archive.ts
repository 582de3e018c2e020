import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDirectoryArchive } from '../exporter/archive/directory/archive.ts';
import type { ReadableArchive } from '../verifier/archive/archive.ts';
import { readIdentities } from '../verifier/encryption/keys.ts';
import { readPublicKey } from '../verifier/signature/key.ts';
import { readRoots } from '../verifier/timestamp/roots.ts';
import type { ArchiveOptions } from '../verifier/verify/archive-reading.ts';
import type { ArchiveReport } from '../verifier/verify/archive-report.ts';
import { verifyNamedArchive } from '../verifier/verify/named-archive.ts';
import { type StampTrust, withRoots } from './roots.ts';

/** The facts about an archive that you know and trust. */
export interface ArchiveTrust extends StampTrust {
  /** The keys with one of which it must be signed, in PEM. Without them, its signatures prove nothing. */
  publicKeys?: readonly string[];
  /** Roots of the authorities that stamped its runs, in PEM. */
  stampRoots?: string;
  /** Identities of age, to decrypt bundles with. */
  identities?: readonly string[];
}

/** The part of an archive to verify, and how. */
export interface ArchiveScope {
  /** Only this run. */
  run?: string;
  /** Only this run and those after it. */
  from?: string;
  /** Leaves bundles unread whose SHA-256 the store itself attests. */
  fast?: boolean;
  /** Every lock must last until then. */
  lockedUntil?: Date;
  /** The folder in which bundles are decrypted, and gone afterwards. Default: that of the system. */
  workDirectory?: string;
}

/**
 * Verifies an archive: the chain of its ledger, its signatures, every run and every object in it, each bundle anew.
 *
 * @param source the folder of an archive, or what reads one that is kept elsewhere.
 * @returns what came of it. An archive in which anything was altered, added or taken away is `refuted`, and no error.
 * @throws EvidenceError `not-found` where there is no archive, or no such run; `config` for an archive that another version
 * wrote, and for keys, roots or a contract that are none.
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

/** Null where there is no such folder. */
async function openFolder(source: string | URL) {
  const path = source instanceof URL ? fileURLToPath(source) : source;
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? openDirectoryArchive(path, { create: false }) : null;
}
