import type { Generated } from 'kysely';

/** An InRelease that a key signed. */
export interface SignedArchiveTable {
  archive_no: Generated<number>;
  /** As people know it: `Debian bookworm-security`. */
  archive: string;
  /** When it was made, as it says. */
  release_date: string | null;
  /** Of the InRelease, hex. */
  release_sha256: string;
  /** JSON: name and fingerprint of each key. */
  signed_by: string;
  imported_at: string;
}

/** A list of packages of an archive, once it was read to its end. */
export interface SignedIndexTable {
  sha256: string;
  archive_no: number;
  name: string;
}

export interface SignedPackageTable {
  package_no: Generated<number>;
  /** Of the .deb file, hex. */
  sha256: string;
  /** The first archive that was seen to have it. */
  archive_no: number;
  /** Part of the archive: `main`; empty where it has none. */
  component: string;
  name: string;
  version: string;
  architecture: string;
  /** Of the .deb file. */
  size: number;
  /** When its files were read; null as long as they were not. */
  opened_at: string | null;
  file_count: number | null;
}

/** A regular file of a package that was opened. */
export interface KnownFileTable {
  sha256: string;
  path: string;
  package_no: number;
  mode: number;
  uid: number;
  gid: number;
}

export interface PackageTables {
  signed_archives: SignedArchiveTable;
  signed_indexes: SignedIndexTable;
  signed_packages: SignedPackageTable;
  known_files: KnownFileTable;
}
