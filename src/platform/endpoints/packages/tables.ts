import { column, type TablesOf, table } from '../../database/table.ts';

export const PACKAGE_TABLES = {
  /** An InRelease that a key signed. */
  signed_archives: table({
    archive_no: column.ordinal(),
    /** As people know it: `Debian bookworm-security`. */
    archive: column.text(),
    /** When it was made, as it says. */
    release_date: column.optional(column.text()),
    /** The digest of the InRelease. */
    release_sha256: column.digest('UNIQUE'),
    /** JSON: name and fingerprint of each key. */
    signed_by: column.text(),
    imported_at: column.text(),
  }),
  /** A list of packages of an archive, once it was read to its end. */
  signed_indexes: table({
    sha256: column.digest('PRIMARY KEY'),
    archive_no: column.integer('REFERENCES signed_archives'),
    name: column.text(),
  }),
  signed_packages: table(
    {
      package_no: column.ordinal(),
      /** The digest of the .deb file. */
      sha256: column.digest('UNIQUE'),
      /** The first archive that was seen to have it. */
      archive_no: column.integer('REFERENCES signed_archives'),
      /** Part of the archive: `main`; empty where it has none. */
      component: column.text(),
      name: column.text(),
      version: column.text(),
      architecture: column.text(),
      /** The bytes of the .deb file. */
      size: column.integer(),
      /** When its files were read; null as long as they were not. */
      opened_at: column.optional(column.text()),
      file_count: column.optional(column.integer()),
    },
    { indexes: { signed_packages_by_archive: '(archive_no)', signed_packages_by_name: '(name, version)' } },
  ),
  /** A regular file of a package that was opened. */
  known_files: table(
    {
      sha256: column.digest(),
      path: column.text(),
      package_no: column.integer('REFERENCES signed_packages'),
      mode: column.integer(),
      uid: column.integer(),
      gid: column.integer(),
    },
    { indexes: { known_files_by_digest: '(sha256)', known_files_by_package: '(package_no)' } },
  ),
};

export type PackageTables = TablesOf<typeof PACKAGE_TABLES>;
