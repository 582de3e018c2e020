import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { shellWord } from '../core/shell.ts';
import { issueKey, operator, withdrawKey } from './accounts/api-keys.ts';
import type { AccountTables } from './accounts/schema.ts';
import { bringOver } from './audit/earlier.ts';
import { RowSeals } from './audit/row-seals.ts';
import { DerivedSealKeys, MASTER_KEY_BYTES } from './audit/seal-keys.ts';
import type { Database } from './database/database.ts';
import { openDatabase } from './database/open.ts';
import { dataFolder } from './folder.ts';
import { takesMasterKey } from './master-key.ts';
import { migrateAll } from './migrations.ts';
import { SCOPES } from './scopes.ts';

/** Where a platform keeps what it has. */
export interface PlatformPlace {
  /** The folder with the keys, and with the database where that is SQLite. */
  dataDir: string;
  /** A PostgreSQL database in the place of SQLite. */
  postgresUrl?: string | null;
}

/**
 * Makes a data folder: master key, development authority, database and the first API key, which is returned and cannot
 * be had again.
 * @param handOver gives the key to its user. Where that fails, nothing is kept that was made.
 * @throws EvidenceError `conflict` when the folder or the database has been initialised, also in part; as `handOver` does.
 */
export async function initPlatform(
  place: PlatformPlace,
  handOver: (apiKey: string) => Promise<void> = async () => {},
): Promise<{ apiKey: string }> {
  const { dataDir } = place;
  const folder = dataFolder(dataDir);
  refuseExisting(dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    await writePrivate(folder.masterKey, randomBytes(MASTER_KEY_BYTES));
    if (isSqlite(place)) await writePrivate(folder.database, new Uint8Array());
    const { createDevelopmentAuthority } = await import('./timestamp/authority.ts');
    await createDevelopmentAuthority(folder.authority);
    return { apiKey: await withDatabase(place, (database) => makeFirstKey(database, handOver)) };
  } catch (error) {
    for (const path of Object.values(folder)) await rm(path, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The database of a place, with its tables in the form of this version.
 * @throws EvidenceError `config` when the place is not initialised, or the database does not answer.
 */
export async function openPlace(place: PlatformPlace): Promise<Database> {
  const { dataDir, postgresUrl } = place;
  const { masterKey, database: file } = dataFolder(dataDir);
  if (!existsSync(masterKey) || (isSqlite(place) && !existsSync(file)))
    throw new EvidenceError('config', `${dataDir} is not an initialised data folder of the platform`, {
      nextStep: `Make one with: evidence-platform init --data ${shellWord(dataDir)}`,
    });
  const database = await openDatabase(postgresUrl ? { url: postgresUrl } : { file });
  try {
    await migrateAll(database);
    const { keys, seals } = await sealMeans(dataDir);
    if (!(await takesMasterKey(database, keys))) throw otherKey(masterKey);
    await bringOver(database, seals);
    return database;
  } catch (error) {
    await database.close();
    throw postgresUrl ? unreachable(postgresUrl, error) : error;
  }
}

/** Runs `work` on the database of a place, and closes it. @throws EvidenceError as `openPlace`. */
export async function withDatabase<T>(place: PlatformPlace, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openPlace(place);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * The seal keys of a data folder.
 * @throws EvidenceError `unreadable` when its master key is none.
 */
export async function openSealKeys(dataDir: string): Promise<DerivedSealKeys> {
  return new DerivedSealKeys(await readFile(dataFolder(dataDir).masterKey));
}

/** What seals entries and rows, with the master key of a data folder. @throws EvidenceError as `openSealKeys`. */
export async function sealMeans(dataDir: string): Promise<{ keys: DerivedSealKeys; seals: RowSeals }> {
  const keys = await openSealKeys(dataDir);
  return { keys, seals: new RowSeals(keys.ofRows()) };
}

function otherKey(path: string): EvidenceError {
  return new EvidenceError('config', `${path} is not the master key that the database was written with`, {
    nextStep: 'Copy the one that it was made with to here, or name the database that belongs to this folder.',
  });
}

function isSqlite({ postgresUrl }: PlatformPlace): boolean {
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

function refuseExisting(dataDir: string): void {
  const found = Object.values(dataFolder(dataDir)).find((path) => existsSync(path));
  if (found === undefined) return;
  throw new EvidenceError('conflict', `${dataDir} was initialised before: ${found} exists; nothing was changed`, {
    nextStep: `Serve it with: evidence-platform serve --data ${dataDir}. To begin anew choose another folder.`,
  });
}

async function makeFirstKey(database: Database, handOver: (apiKey: string) => Promise<void>): Promise<string> {
  const tables = database.tables<AccountTables>();
  if ((await tables.selectFrom('api_keys').select('key_id').limit(1).execute()).length > 0)
    throw new EvidenceError('conflict', 'the database was initialised before: it has API keys; nothing was changed', {
      nextStep: 'Copy the data folder that it was made with to here: only its master key fits what was recorded.',
    });
  const wishes = { name: 'first key', scopes: SCOPES, expiresAt: null };
  const issued = await database.write((transaction) => issueKey(transaction, wishes, operator(new Date())));
  try {
    await handOver(issued.text);
    return issued.text;
  } catch (error) {
    await database.write((transaction) => withdrawKey(transaction, issued));
    throw error;
  }
}

/** Creates a file that only its owner reads, complete on disk. */
async function writePrivate(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
