import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { KeyStore } from './accounts/store.ts';
import { auditRoutes } from './audit/routes.ts';
import { DerivedSealKeys, MASTER_KEY_BYTES } from './audit/seal-keys.ts';
import { assembleAudit } from './audit/service.ts';
import { createServer, type LogLevel } from './http/server.ts';
import { type DataFolder, dataFolder } from './store/folder.ts';
import { migrate } from './store/migrations.ts';
import { kyselyOver, openSqlite } from './store/sqlite.ts';
import type { TimestampAuthority } from './timestamp/types.ts';

const RETRY_ANCHORS_MS = 60_000;

/** How long `close` waits for requests under way. A connection that never sent one would be waited for too. */
const GRACE_MS = 3000;

export interface PlatformOptions {
  /** A folder that `initPlatform` made. */
  dataDir: string;
  /** 0 for any that is free. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** An RFC 3161 authority; without one the development authority of the folder anchors. */
  tsaUrl?: string;
  logLevel?: LogLevel;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

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
 * Serves a data folder until `close`.
 * @throws EvidenceError `config` when the folder is not initialised or the port cannot be had.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const folder = dataFolder(options.dataDir);
  const keys = await openSealKeys(options.dataDir);
  const authority = await openAuthority(folder, options.tsaUrl);
  const database = openSqlite(folder.database);
  const db = kyselyOver(database);
  try {
    await migrate(db);
    const server = createServer({ logLevel: options.logLevel ?? 'warn' });
    const service = assembleAudit({
      database,
      db,
      keys,
      authority,
      clock: () => new Date(),
      onAnchorFailure: (error, checkpointId) =>
        server.log.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending'),
    });
    await server.register(auditRoutes, { prefix: '/audit', service, keys: new KeyStore(database) });
    const { host = '127.0.0.1', port } = options;
    await listen(server, host, port);
    void service.checkpoints.retryPending();
    const retry = setInterval(() => void service.checkpoints.retryPending(), RETRY_ANCHORS_MS);
    const origin = originOf(host, server.server.address());
    return {
      origin,
      auditUrl: `${origin}/audit`,
      async close() {
        clearInterval(retry);
        await closeSoon(server);
        await service.checkpoints.settled();
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Lets answers end that are on their way, for a while. */
async function closeSoon(server: ReturnType<typeof createServer>): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(cut);
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
    await migrate(kyselyOver(database));
    return new KeyStore(database).create('first key', new Date());
  } finally {
    database.close();
  }
}

async function openAuthority(folder: DataFolder, tsaUrl: string | undefined): Promise<TimestampAuthority> {
  if (tsaUrl === undefined) {
    const { openDevelopmentAuthority } = await import('./timestamp/authority.ts');
    return openDevelopmentAuthority(folder.authority);
  }
  const { remoteAuthority } = await import('./timestamp/remote.ts');
  return remoteAuthority(tsaUrl);
}

async function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw new EvidenceError('config', `cannot listen on ${host} port ${port}: ${messageOf(error)}`, {
      cause: error,
      nextStep: 'Choose another --port or --host, or end the program that uses it.',
    });
  }
}

function originOf(host: string, address: AddressInfo | string | null): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
