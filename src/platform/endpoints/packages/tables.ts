import { column, type TablesOf, table } from '../../database/table.ts';

export const PACKAGE_TABLES = {
  /** InRelease files that were verified. */
  signed_archives: table({
    archive_no: column.ordinal(),
    /** Common name such as `Debian bookworm-security`. */
    archive: column.text(),
    /** Date in the file. */
    release_date: column.optional(column.text()),
    /** Digest of the InRelease. */
    release_sha256: column.digest('UNIQUE'),
    /** JSON of the name and fingerprint of each key. */
    signed_by: column.text(),
    imported_at: column.text(),
  }),
  /** Package lists of an archive that were read completely. */
  signed_indexes: table({
    sha256: column.digest('PRIMARY KEY'),
    archive_no: column.integer('REFERENCES signed_archives'),
    name: column.text(),
  }),
  signed_packages: table(
    {
      package_no: column.ordinal(),
      /** Digest of the .deb file. */
      sha256: column.digest('UNIQUE'),
      /** First archive that listed the package. */
      archive_no: column.integer('REFERENCES signed_archives'),
      /** Component of the archive, such as `main`; empty if there is none. */
      component: column.text(),
      name: column.text(),
      version: column.text(),
      architecture: column.text(),
      /** Size of the .deb file in bytes. */
      size: column.integer(),
      /** Time at which the files were read; null before that. */
      opened_at: column.optional(column.text()),
      file_count: column.optional(column.integer()),
    },
    { indexes: { signed_packages_by_archive: '(archive_no)', signed_packages_by_name: '(name, version)' } },
  ),
  /** Regular files of opened packages. */
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
