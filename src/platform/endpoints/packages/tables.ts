import { digest, integer, optional, ordinal, type TablesOf, table, text } from '../../database/table.ts';

export const PACKAGE_TABLES = {
  /** An InRelease that a key signed. */
  signed_archives: table({
    archive_no: ordinal(),
    /** As people know it: `Debian bookworm-security`. */
    archive: text(),
    /** When it was made, as it says. */
    release_date: optional(text()),
    /** Of the InRelease, hex. */
    release_sha256: digest('UNIQUE'),
    /** JSON: name and fingerprint of each key. */
    signed_by: text(),
    imported_at: text(),
  }),
  /** A list of packages of an archive, once it was read to its end. */
  signed_indexes: table({
    sha256: digest('PRIMARY KEY'),
    archive_no: integer('REFERENCES signed_archives'),
    name: text(),
  }),
  signed_packages: table(
    {
      package_no: ordinal(),
      /** Of the .deb file, hex. */
      sha256: digest('UNIQUE'),
      /** The first archive that was seen to have it. */
      archive_no: integer('REFERENCES signed_archives'),
      /** Part of the archive: `main`; empty where it has none. */
      component: text(),
      name: text(),
      version: text(),
      architecture: text(),
      /** Of the .deb file. */
      size: integer(),
      /** When its files were read; null as long as they were not. */
      opened_at: optional(text()),
      file_count: optional(integer()),
    },
    { indexes: { signed_packages_by_archive: '(archive_no)', signed_packages_by_name: '(name, version)' } },
  ),
  /** A regular file of a package that was opened. */
  known_files: table(
    {
      sha256: digest(),
      path: text(),
      package_no: integer('REFERENCES signed_packages'),
      mode: integer(),
      uid: integer(),
      gid: integer(),
    },
    { indexes: { known_files_by_digest: '(sha256)', known_files_by_package: '(package_no)' } },
  ),
};

export type PackageTables = TablesOf<typeof PACKAGE_TABLES>;
