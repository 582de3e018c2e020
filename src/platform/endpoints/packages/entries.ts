import { z } from 'zod';
import { sha256 } from '../../../core/digest.ts';
import type { AuditLog, OwnEntry } from '../../audit/api.ts';
import type { Database } from '../../database/database.ts';
import { pick } from '../../database/table.ts';
import type { Actor } from '../../http/principal.ts';
import type { ReleaseIndex } from './release.ts';
import type { PackagedFile } from './repository.ts';
import { filesKnownOf, packagesWithFiles, type SignedArchive, type SignedPackageRow } from './repository.ts';

/** Audit stream that records which files are known, and who signed them. */
export const PACKAGES_STREAM = 'endpoints/packages';

type Somebody = Pick<Actor, 'name'>;

/** Returns the entry for a signed list of packages that was read. */
export function indexEntry(
  actor: Somebody,
  {
    archive: { archive, release_date, release_sha256, signed_by },
    index,
    ...counts
  }: {
    archive: Pick<SignedArchive, 'archive' | 'release_date' | 'release_sha256' | 'signed_by'>;
    index: ReleaseIndex;
    listed: number;
    added: number;
  },
): OwnEntry {
  const indexed = { index: index.name, index_sha256: index.sha256 };
  return {
    actor: actor.name,
    action: 'index.imported',
    resource_type: 'signed_archive',
    resource_id: release_sha256,
    metadata: { archive, release_date, release_sha256, signed_by: JSON.parse(signed_by), ...indexed, ...counts },
  };
}

/** Returns the entry for packages whose files are now known, with a digest of each list of files. */
export function openedEntry(
  actor: Somebody,
  opened: readonly { row: SignedPackageRow; files: readonly PackagedFile[] }[],
): OwnEntry {
  const packages = opened.map(({ row, files }) => ({
    ...pick(row, ['name', 'version', 'architecture', 'sha256']),
    files: files.length,
    files_sha256: digestOfFiles(files),
  }));
  return {
    actor: actor.name,
    action: 'packages.imported',
    resource_type: 'signed_packages',
    resource_id: sha256(packages.map((each) => each.sha256).join('\n')),
    metadata: { packages },
  };
}

/**
 * Returns the hex SHA-256 over a line `SHA256 MODE UID GID PATH` for each file, with the mode in octal, sorted by the
 * UTF-16 code units of the paths.
 */
export function digestOfFiles(files: readonly PackagedFile[]): string {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return sha256(
    sorted.map((file) => `${file.sha256} ${file.mode.toString(8)} ${file.uid} ${file.gid} ${file.path}\n`).join(''),
  );
}

export interface PackagesVerification {
  /** Number of packages whose files are known. */
  packages: number;
  /** Known packages that were never imported, or were imported with other content. */
  findings: string[];
}

const ENTRIES_AT_ONCE = 200;

const importedSchema = z.object({ packages: z.array(z.object({ sha256: z.string(), files_sha256: z.string() })) });

/** Compares the known files with the entries of their imports. */
export async function verifyPackages(database: Database, log: AuditLog): Promise<PackagesVerification> {
  const imported = await importedPackages(database, log);
  const known = await packagesWithFiles(database);
  const findings: string[] = [];
  for (const row of known) {
    const stated = imported.get(row.sha256);
    imported.delete(row.sha256);
    const name = `${row.name} ${row.version} ${row.architecture}`;
    if (stated === undefined) findings.push(`${name}: its files are known, but no entry records their import`);
    else if (stated !== digestOfFiles(await filesKnownOf(database, row.package_no)))
      findings.push(`${name}: its files differ from those that were imported`);
  }
  for (const sha256 of imported.keys())
    findings.push(`the package with the SHA-256 ${sha256} was imported, but is not known`);
  return { packages: known.length, findings };
}

/** Returns the digest over the files of each package, by the digest of the package. */
async function importedPackages(database: Database, log: AuditLog): Promise<Map<string, string>> {
  const imported = new Map<string, string>();
  for (let before: number | undefined; ; ) {
    const entries = await log.newest(database, PACKAGES_STREAM, { limit: ENTRIES_AT_ONCE, before });
    for (const { action, metadata } of entries)
      if (action === 'packages.imported')
        for (const { sha256, files_sha256 } of importedSchema.parse(metadata).packages)
          imported.set(sha256, files_sha256);
    before = entries.at(-1)?.sequence;
    if (before === undefined) return imported;
  }
}
