import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { shellWord } from '../core/shell.ts';
import { DerivedSealKeys } from './audit/seal-keys.ts';
import type { Database } from './database/database.ts';
import { openDatabase } from './database/open.ts';
import { dataFolder } from './folder.ts';
import { takesMasterKey } from './master-key.ts';
import { migrateAll } from './migrations.ts';

/** The places where a platform keeps what it has. */
export interface PlatformPlace {
  /** The folder with the keys, and with the database where that is SQLite. */
  dataDir: string;
  /** A PostgreSQL database in the place of SQLite. */
  postgresUrl?: string | null;
}

/**
 * The database of a place, with its tables in the form of this version.
 * @throws EvidenceError `config` when the place is not initialised, or the database does not answer.
 */
export async function openPlace(place: PlatformPlace): Promise<Database> {
  const { dataDir, postgresUrl } = place;
  const { masterKey, database: file } = dataFolder(dataDir);
  if (!existsSync(masterKey))
    throw new EvidenceError('config', `${dataDir} is not an initialised data folder of the platform`, {
      nextStep: `Make one with: evidence-platform init --data ${shellWord(dataDir)}`,
    });
  if (isSqlite(place) && !existsSync(file))
    throw new EvidenceError('config', `${dataDir} has a master key, and no database: ${file} is not there`, {
      nextStep: 'Where the database is on PostgreSQL name it with --postgres; else restore the file from a backup.',
    });
  const database = await openDatabase(postgresUrl ? { url: postgresUrl } : { file });
  try {
    await migrateAll(database);
    if (!(await takesMasterKey(database, await openSealKeys(dataDir)))) throw otherKey(masterKey);
    return database;
  } catch (error) {
    await database.close();
    throw postgresUrl ? unreachable(postgresUrl, error) : error;
  }
}

/**
 * The seal keys of a data folder.
 * @throws EvidenceError `unreadable` when its master key is none.
 */
export async function openSealKeys(dataDir: string): Promise<DerivedSealKeys> {
  return new DerivedSealKeys(await readFile(dataFolder(dataDir).masterKey));
}

function otherKey(path: string): EvidenceError {
  return new EvidenceError('config', `the database was initialised with another master key than ${path}`, {
    nextStep: 'Copy the one that it was made with to there, or name the database that belongs to this folder.',
  });
}

export function isSqlite({ postgresUrl }: PlatformPlace): boolean {
  return !postgresUrl;
}

/** An address without its password. */
function unreachable(url: string, error: unknown): unknown {
  const { cause } = error as { cause?: { code?: string } };
  if (!/^(E[A-Z]+|28\w{3}|3D000)$/.test(cause?.code ?? '')) return error;
  const { host, pathname } = new URL(url);
  return new EvidenceError(
    'config',
    `the database ${pathname.slice(1)} at ${host} cannot be used: ${messageOf(cause)}`,
    {
      cause,
      nextStep: 'Look whether it runs, and whether user and password are right.',
    },
  );
}
