import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { EvidenceError } from '../core/errors.ts';
import { KeyStore } from './accounts/store.ts';
import { DerivedSealKeys, MASTER_KEY_BYTES } from './audit/seal-keys.ts';
import { openSqlite } from './database/sqlite.ts';
import { type DataFolder, dataFolder } from './folder.ts';
import { migrateAll } from './migrations.ts';

/**
 * Makes a data folder: database, master key, development authority and the first API key, which is returned and
 * cannot be had again.
 * @param handOver gives the key to its user. Where that fails, nothing of the folder is kept.
 * @throws EvidenceError `conflict` when the folder has been initialised, also in part; as `handOver` does.
 */
export async function initPlatform(
  dataDir: string,
  handOver: (apiKey: string) => Promise<void> = async () => {},
): Promise<{ apiKey: string }> {
  const folder = dataFolder(dataDir);
  refuseExisting(dataDir, folder);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    await writePrivate(folder.masterKey, randomBytes(MASTER_KEY_BYTES));
    await writePrivate(folder.database, new Uint8Array());
    const { createDevelopmentAuthority } = await import('./timestamp/authority.ts');
    await createDevelopmentAuthority(folder.authority);
    const apiKey = await createDatabase(folder.database);
    await handOver(apiKey);
    return { apiKey };
  } catch (error) {
    for (const path of Object.values(folder)) await rm(path, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The seal keys of a data folder.
 * @throws EvidenceError `config` when it is not initialised.
 */
export async function openSealKeys(dataDir: string): Promise<DerivedSealKeys> {
  const { masterKey, database } = dataFolder(dataDir);
  if (!existsSync(masterKey) || !existsSync(database))
    throw new EvidenceError('config', `${dataDir} is not an initialised data folder of the platform`, {
      nextStep: `Make one with: evidence-platform init --data ${dataDir}`,
    });
  return new DerivedSealKeys(await readFile(masterKey));
}

function refuseExisting(dataDir: string, folder: DataFolder): void {
  const found = Object.values(folder).find((path) => existsSync(path));
  if (found === undefined) return;
  throw new EvidenceError('conflict', `${dataDir} was initialised before: ${found} exists; nothing was changed`, {
    nextStep: `Serve it with: evidence-platform serve --data ${dataDir}. To begin anew choose another folder.`,
  });
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

async function createDatabase(path: string): Promise<string> {
  const database = openSqlite(path);
  try {
    await migrateAll(database);
    return await new KeyStore(database).create('first key', new Date());
  } finally {
    await database.close();
  }
}
