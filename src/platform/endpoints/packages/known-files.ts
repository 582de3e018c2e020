import { sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import type { Attributes } from './repository.ts';
import type { PackageTables } from './tables.ts';

/** Folders that are links to those of `/usr`, and were once folders of their own: https://wiki.debian.org/UsrMerge */
const MERGED = /^\/(?=(?:bin|sbin|lib|lib32|lib64|libo32|libx32)\/)/;

/** A path as a file stands at it where `/bin` is a link to `/usr/bin`: packages say either. */
export function standingPath(path: string): string {
  return path.replace(MERGED, '/usr/');
}

/** A file that stands where another one, or none, is expected. */
export interface ChangedFile {
  path: string;
  observed: Attributes & { sha256: string };
  /** The baseline's file; null if it has none. */
  expected: (Attributes & { sha256: string }) | null;
}

/** The package that a file is of, and who vouches for it. */
export interface SignedPackage {
  name: string;
  version: string;
  architecture: string;
  /** `Debian bookworm-security main`. */
  archive: string;
  /** Name and fingerprint of each key that signed the archive, with commas between them. */
  signed_by: string;
}

const SET_IDS = 0o6000;
const WRITE_BY_OTHERS = 0o0022;

/**
 * True if a package explains a file with the content and the path of one of its own. The file may be no more powerful
 * than the package has it, or than it was; what is no other content is no upgrade, and what has become setuid is none
 * either.
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
