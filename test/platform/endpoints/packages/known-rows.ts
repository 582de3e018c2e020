import { hash } from 'node:crypto';
import type { Database } from '../../../../src/platform/database/database.ts';
import type { PackagedFile } from '../../../../src/platform/endpoints/packages/repository.ts';
import {
  archiveOf,
  insertFiles,
  insertPackages,
  packageOf,
} from '../../../../src/platform/endpoints/packages/repository.ts';

/** Adds a file of root to the known files, as importing its package would. */
export function makeKnown(database: Database, file: Pick<PackagedFile, 'path' | 'sha256'>): Promise<void> {
  const openedAt = '2026-11-22T00:00:00.000Z';
  const sha256 = hash('sha256', file.path + file.sha256);
  return database.write(async (transaction) => {
    const archive_no = await archiveOf(transaction, {
      archive: 'Debian bookworm',
      release_date: null,
      release_sha256: '0'.repeat(64),
      signed_by: '["Debian"]',
      imported_at: openedAt,
    });
    const listed = { name: 'coreutils', version: '9.1', architecture: 'amd64', size: 1, sha256 };
    await insertPackages(transaction, { archive_no, component: 'main' }, [listed]);
    const row = await packageOf(transaction, sha256);
    if (row === undefined) throw new Error('a package was not added');
    await insertFiles(transaction, row, { files: [{ ...file, mode: 0o755, uid: 0, gid: 0 }], openedAt });
  });
}
