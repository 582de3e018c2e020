import { sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import type { Attributes } from './repository.ts';
import type { PackageTables } from './tables.ts';

/**
 * Folders that are links to those of `/usr` since the merge, and separate folders before:
 * https://wiki.debian.org/UsrMerge
 */
const MERGED = /^\/(?=(?:bin|sbin|lib|lib32|lib64|libo32|libx32)\/)/;

/** Returns the path of a file on a system with merged `/usr`. Packages use both forms. */
export function standingPath(path: string): string {
  return path.replace(MERGED, '/usr/');
}

/** File at a path where another file, or none, is expected. */
export interface ChangedFile {
  path: string;
  observed: Attributes & { sha256: string };
  /** File in the baseline; null if there is none. */
  expected: (Attributes & { sha256: string }) | null;
}

/** Package that a file belongs to, and its signers. */
export interface SignedPackage {
  name: string;
  version: string;
  architecture: string;
  /** Name such as `Debian bookworm-security main`. */
  archive: string;
  /** Name and fingerprint of each key that signed the archive, separated by commas. */
  signed_by: string;
}

const SET_IDS = 0o6000;
const WRITE_BY_OTHERS = 0o0022;

/**
 * Reports whether a package explains a file of the same content and path. The file must not have more power than in the
 * package or than before. Unchanged content is not an upgrade, and a file that became setuid is not explained.
 */
export function explains(packaged: Attributes, { observed, expected }: ChangedFile): boolean {
  if (expected !== null && expected.sha256 === observed.sha256) return false;
  if (expected !== null && isSame(observed, expected)) return true;
  const isOwned = observed.uid === packaged.uid && observed.gid === packaged.gid;
  const more = observed.mode & ~packaged.mode & (SET_IDS | WRITE_BY_OTHERS);
  const becameSetId = expected === null ? 0 : observed.mode & ~expected.mode & SET_IDS;
  return isOwned && more === 0 && becameSetId === 0;
}

function isSame(one: Attributes, other: Attributes): boolean {
  return one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;
}

/** Maximum number of files in one statement. */
const AT_ONCE = 200;

/**
 * Returns the packages that explain the files, in order; null for an unexplained file. If several packages match, the
 * last imported one is returned. Content alone is not enough: a shell in place of `sudo` is a signed file, too.
 */
export async function explainingPackages(
  reader: Reader,
  files: readonly ChangedFile[],
): Promise<(SignedPackage | null)[]> {
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
}

/** Returns the rows, newest first. */
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
      // Matches digest and path together, because an empty file is in thousands of packages.
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
