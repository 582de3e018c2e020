import type { Migrations } from '../../database/migration.ts';

export const PACKAGE_MIGRATIONS: Migrations = {
  'endpoints/packages-0001-packages': ({ text, integer, ordinal, end, digest }) => [
    `CREATE TABLE signed_archives (
      archive_no ${ordinal},
      archive ${text} NOT NULL,
      release_date ${text},
      ${digest('release_sha256')} NOT NULL UNIQUE,
      signed_by ${text} NOT NULL,
      imported_at ${text} NOT NULL
    ) ${end}`,
    `CREATE TABLE signed_indexes (
      ${digest('sha256')} PRIMARY KEY,
      archive_no ${integer} NOT NULL REFERENCES signed_archives,
      name ${text} NOT NULL
    ) ${end}`,
    `CREATE TABLE signed_packages (
      package_no ${ordinal},
      ${digest('sha256')} NOT NULL UNIQUE,
      archive_no ${integer} NOT NULL REFERENCES signed_archives,
      component ${text} NOT NULL,
      name ${text} NOT NULL,
      version ${text} NOT NULL,
      architecture ${text} NOT NULL,
      size ${integer} NOT NULL,
      opened_at ${text},
      file_count ${integer}
    ) ${end}`,
    'CREATE INDEX signed_packages_by_archive ON signed_packages (archive_no)',
    'CREATE INDEX signed_packages_by_name ON signed_packages (name, version)',
    `CREATE TABLE known_files (
      ${digest('sha256')} NOT NULL,
      path ${text} NOT NULL,
      package_no ${integer} NOT NULL REFERENCES signed_packages,
      mode ${integer} NOT NULL,
      uid ${integer} NOT NULL,
      gid ${integer} NOT NULL
    ) ${end}`,
    'CREATE INDEX known_files_by_digest ON known_files (sha256)',
    'CREATE INDEX known_files_by_package ON known_files (package_no)',
  ],
};
