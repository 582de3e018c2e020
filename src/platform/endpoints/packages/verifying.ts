import { z } from 'zod';
import type { AuditLog } from '../../audit/api.ts';
import type { Database } from '../../database/database.ts';
import { digestOfFiles } from './entries.ts';
import { PACKAGES_STREAM } from './importing.ts';
import { filesKnownOf, packagesWithFiles } from './repository.ts';

export interface PackagesVerification {
  /** The number of packages whose files are known. */
  packages: number;
  /** Packages that are known and were never imported, or were imported with another content. */
  findings: string[];
}

const ENTRIES_AT_ONCE = 200;

const importedSchema = z.object({ packages: z.array(z.object({ sha256: z.string(), files_sha256: z.string() })) });

/** Compares the files that are known with what the entries of imports say of them. */
export async function verifyPackages(database: Database, log: AuditLog): Promise<PackagesVerification> {
  const imported = await importedPackages(database, log);
  const known = await packagesWithFiles(database);
  const findings: string[] = [];
  for (const row of known) {
    const stated = imported.get(row.sha256);
    imported.delete(row.sha256);
    const name = `${row.name} ${row.version} ${row.architecture}`;
    if (stated === undefined) findings.push(`${name}: its files are known, and no entry says that they were imported`);
    else if (stated !== digestOfFiles(await filesKnownOf(database, row.package_no)))
      findings.push(`${name}: its files are not those that were imported`);
  }
  for (const sha256 of imported.keys())
    findings.push(`the package with the SHA-256 ${sha256} was imported, and is not known`);
  return { packages: known.length, findings };
}

/** The digest over the files of each package, by the digest of the package. */
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
