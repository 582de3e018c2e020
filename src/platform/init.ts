import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { EvidenceError } from '../core/errors.ts';
import { type Administration, byCommand } from './accounts/administration.ts';
import { issueKey } from './accounts/api-keys.ts';
import type { AccountTables } from './accounts/tables.ts';
import { MASTER_KEY_BYTES } from './audit/seal-keys.ts';
import type { Database, Transaction } from './database/database.ts';
import { dataFolder } from './folder.ts';
import { keepMasterKey } from './master-key.ts';
import { type Parts, withParts } from './parts.ts';
import { SCOPES } from './scopes.ts';
import { isSqlite, type PlatformPlace } from './setup.ts';

/** Secrets with which a new platform is first used. Neither can be shown again. */
export interface FirstEntrance {
  /** First API key, which has all scopes. */
  apiKey: string;
  /** Token of the link with which the first owner creates an account. */
  setUpToken: string;
}

export interface InitOptions {
  /** Hands the secrets to the user. If this fails, the new platform is deleted. */
  handOver?: (entrance: FirstEntrance) => Promise<void>;
  /**
   * True if the stream of administrative acts records the initialization; false for a platform inside another program.
   */
  isRecorded?: boolean;
}

/**
 * Creates a data folder: master key, development authority, database, the first API key, and the link to the first
 * account.
 * @throws EvidenceError `config` if the folder or the database is already initialized, even partially; as `handOver`
 * does.
 */
export async function initPlatform(place: PlatformPlace, options: InitOptions = {}): Promise<FirstEntrance> {
  const { dataDir } = place;
  const folder = dataFolder(dataDir);
  refuseExisting(dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    await writePrivate(folder.masterKey, randomBytes(MASTER_KEY_BYTES));
    if (isSqlite(place)) await writePrivate(folder.database, new Uint8Array());
    const { createDevelopmentAuthority } = await import('./timestamp/authority.ts');
    await createDevelopmentAuthority(folder.authority);
    return await withParts(place, (parts) => makeEntrance(parts, options));
  } catch (error) {
    for (const path of Object.values(folder)) await rm(path, { recursive: true, force: true });
    throw error;
  }
}

function refuseExisting(dataDir: string): void {
  const found = Object.values(dataFolder(dataDir)).find((path) => existsSync(path));
  if (found === undefined) return;
  throw new EvidenceError('config', `${dataDir} is already initialized: ${found} exists; nothing was changed`, {
    nextStep: 'Serve it with `evidence-platform serve` and the same flags, or choose another folder.',
  });
}

const FIRST_KEY = { name: 'first key', scopes: [...SCOPES], expires_at: null };

/**
 * Recorded after the secrets were handed over: a record under a master key that is then deleted would block the next
 * attempt.
 */
async function makeEntrance(
  { database, accounts, administration, clock, sealKeys }: Parts,
  { handOver = async () => {}, isRecorded = false }: InitOptions,
): Promise<FirstEntrance> {
  await refuseUsed(database);
  const actor = byCommand('init');
  const { key_id, apiKey, link_id } = await database.write(async (transaction) => {
    const { name, scopes, expires_at: expiresAt } = FIRST_KEY;
    const issued = await issueKey(
      transaction,
      { name, scopes, expiresAt },
      { actor, now: clock(), administration: NOWHERE },
    );
    const link_id = await accounts.links.make(transaction, 'set_up', {}, clock());
    return { key_id: issued.key.key_id, apiKey: issued.text, link_id };
  });
  const entrance = { apiKey, setUpToken: accounts.links.token(link_id) };
  try {
    await handOver(entrance);
    const act = {
      actor,
      action: 'platform.initialised',
      of: ['platform', key_id],
      more: { key_id, link_id, ...FIRST_KEY },
    } as const;
    await database.write(async (transaction) => {
      await keepMasterKey(transaction, sealKeys);
      if (isRecorded) await administration.record(transaction, act);
    });
    return entrance;
  } catch (error) {
    await database.write((transaction) => withdraw(transaction, key_id, link_id));
    throw error;
  }
}

const NOWHERE: Administration = { record: async () => {} };

async function refuseUsed(database: Database): Promise<void> {
  const keys = database.tables<AccountTables>().selectFrom('api_keys').select('key_id').limit(1);
  if ((await keys.execute()).length > 0)
    throw new EvidenceError('config', 'the database is already initialized: it has API keys; nothing was changed', {
      nextStep: 'Copy the original data folder here: the entries can be verified only with its master key.',
    });
}

async function withdraw(transaction: Transaction, keyId: string, linkId: string): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('api_keys').where('key_id', '=', keyId).execute();
  await transaction.tables<AccountTables>().deleteFrom('links').where('link_id', '=', linkId).execute();
}

/** Creates a file that only its owner can read, and syncs it to disk. */
async function writePrivate(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
