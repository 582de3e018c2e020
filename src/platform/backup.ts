import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { EvidenceError } from '../core/errors.ts';
import { backupSqlite } from './database/sqlite.ts';
import { dataFolder } from './folder.ts';
import { openPlace, type PlatformPlace } from './setup.ts';

/**
 * Copies a data folder to a new one: the keys, and the SQLite database in its state at one moment, even during writes.
 * PostgreSQL is backed up with its own tools.
 * @throws EvidenceError `config` if `out` exists, or the place is not initialized.
 */
export async function backupPlace(place: PlatformPlace, out: string): Promise<void> {
  if (existsSync(out))
    throw new EvidenceError('config', `${out} exists already; nothing was written`, {
      nextStep: 'Choose a folder that does not exist yet.',
    });
  // Checks that the place is initialized and readable.
  await (await openPlace(place)).close();
  const from = dataFolder(place.dataDir);
  const to = dataFolder(out);
  await mkdir(out, { recursive: true, mode: 0o700 });
  try {
    await cp(from.masterKey, to.masterKey);
    await cp(from.authority, to.authority, { recursive: true });
    if (existsSync(from.database)) await backupSqlite(from.database, to.database);
  } catch (error) {
    await rm(out, { recursive: true, force: true });
    throw error;
  }
}
