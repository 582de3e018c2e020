import { sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import { type ChangedFile, explains, type SignedPackage } from './explanation.ts';
import { standingPath } from './paths.ts';
import type { PackageTables } from './tables.ts';

/** Statements of signed packages about files. */
export interface KnownFiles {
  /**
   * The packages that explain files, in the order of these; null for a file that none explains. The newest that was
   * imported, where several do. Content alone explains nothing: a shell that stands where `sudo` belongs is a signed
   * file, too.
   */
  find(reader: Reader, files: readonly ChangedFile[]): Promise<(SignedPackage | null)[]>;
}

/** Values of one statement. */
const AT_ONCE = 200;

export const knownFiles: KnownFiles = {
  async find(reader, files) {
    const found: (SignedPackage | null)[] = [];
    for (let at = 0; at < files.length; at += AT_ONCE) {
      const some = files.slice(at, at + AT_ONCE);
      const rows = await rowsOf(reader, some);
      for (const file of some) {
        const path = standingPath(file.path);
        const row = rows.find(
          (each) => each.sha256 === file.observed.sha256 && each.path === path && explains(each, file),
        );
        found.push(row === undefined ? null : toSignedPackage(row));
      }
    }
    return found;
  },
};

/** Newest first. */
function rowsOf(reader: Reader, files: readonly ChangedFile[]) {
  const places = files.map(({ path, observed }) => sql`(${observed.sha256}, ${standingPath(path)})`);
  const digests = files.map(({ observed }) => observed.sha256);
  return (
    reader
      .tables<PackageTables>()
      .selectFrom('known_files')
      .innerJoin('signed_packages', 'signed_packages.package_no', 'known_files.package_no')
      .innerJoin('signed_archives', 'signed_archives.archive_no', 'signed_packages.archive_no')
      .select(['known_files.sha256', 'path', 'mode', 'uid', 'gid'])
      .select(['name', 'version', 'architecture', 'component', 'archive', 'signed_by'])
      .where(reader.sql.isAmong('known_files.sha256', digests))
      // An empty file is in thousands of packages.
      .where(sql<boolean>`(known_files.sha256, path) IN (VALUES ${sql.join(places)})`)
      .orderBy('known_files.package_no', 'desc')
      .execute()
  );
}

type KnownRow = Awaited<ReturnType<typeof rowsOf>>[number];

function toSignedPackage({ name, version, architecture, component, archive, signed_by }: KnownRow): SignedPackage {
  const signers = JSON.parse(signed_by) as string[];
  return { name, version, architecture, archive: `${archive} ${component}`.trim(), signed_by: signers.join(', ') };
}
