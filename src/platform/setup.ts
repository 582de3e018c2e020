import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { shellWord } from '../core/shell.ts';
import { DerivedSealKeys } from './audit/seal-keys.ts';
import type { Database } from './database/database.ts';
import { openDatabase } from './database/open.ts';
import { firstCause, outageIn } from './database/outage.ts';
import { RowSealer } from './database/row-sealer.ts';
import { dataFolder } from './folder.ts';
import { changeNothing, takesMasterKey } from './master-key.ts';
import { migrateAll } from './migrations.ts';

/** Places in which a platform stores its data. */
export interface PlatformPlace {
  /** Folder with the keys, and with the SQLite database. */
  dataDir: string;
  /** PostgreSQL database instead of SQLite. */
  postgresUrl?: string | null;
}

/**
 * Opens the database of a place, and brings its tables up to date.
 * @throws EvidenceError `config` if the place is not initialized, or the database does not answer.
 */
export async function openPlace(place: PlatformPlace): Promise<Database> {
  const { dataDir, postgresUrl } = place;
  const { masterKey, database: file } = dataFolder(dataDir);
  if (!existsSync(masterKey))
    throw new EvidenceError('config', `${dataDir} is not an initialized data folder of the platform`, {
      nextStep: `Create one with: evidence-platform init --data ${shellWord(dataDir)}`,
    });
  if (isSqlite(place) && !existsSync(file))
    throw new EvidenceError('config', `${dataDir} has a master key but no database: ${file} does not exist`, {
      nextStep:
        'If the database is on PostgreSQL, specify it with --postgres. Otherwise, restore the file from a backup.',
    });
  const keys = await openSealKeys(dataDir);
  const sealer = new RowSealer(keys.ofRows());
  const database = await openDatabase(postgresUrl ? { url: postgresUrl } : { file }, sealer);
  try {
    await migrateAll(database);
    if (!(await takesMasterKey(database, keys))) throw otherKey(masterKey);
    return database;
  } catch (error) {
    await database.close();
    throw postgresUrl ? unreachable(postgresUrl, error) : error;
  }
}

/** @throws DatabaseAway if PostgreSQL accepts no writes, as a standby before it becomes the primary. */
export async function requireWrites(database: Database, { postgresUrl }: PlatformPlace): Promise<void> {
  if (!postgresUrl) return;
  try {
    await database.write(changeNothing);
  } catch (error) {
    throw unreachable(postgresUrl, error);
  }
}

/**
 * Returns the seal keys of a data folder.
 * @throws EvidenceError `unreadable` if its master key is invalid.
 */
export async function openSealKeys(dataDir: string): Promise<DerivedSealKeys> {
  return new DerivedSealKeys(await readFile(dataFolder(dataDir).masterKey));
}

function otherKey(path: string): EvidenceError {
  return new EvidenceError('config', `the database was initialized with a master key other than ${path}`, {
    nextStep: 'Copy the original master key there, or specify the database that belongs to this folder.',
  });
}

export function isSqlite({ postgresUrl }: PlatformPlace): boolean {
  return !postgresUrl;
}

/** Exit code of a command whose database does not answer: EX_TEMPFAIL of sysexits.h, after which units start again. */
export const DATABASE_AWAY = 75;

/** Error of a database in an outage: it does not answer now, or accepts no writes. */
export class DatabaseAway extends EvidenceError {}

/** Explains an unavailable database, by an address without its password. */
function unreachable(url: string, error: unknown): unknown {
  const reason = firstCause(error);
  const isAway = outageIn(error) !== null;
  // invalid_authorization_specification, invalid_catalog_name
  if (!isAway && !/^(28\w{3}|3D000)$/.test(String((reason as { code?: unknown }).code))) return error;
  const { host, pathname } = new URL(url);
  const message = `the database ${pathname.slice(1)} at ${host} cannot be used: ${messageOf(reason)}`;
  const nextStep = 'Check that the database is running and accepts writes, and that user and password are correct.';
  const details = { cause: error, nextStep };
  return isAway ? new DatabaseAway('config', message, details) : new EvidenceError('config', message, details);
}
