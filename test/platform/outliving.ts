import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { PostgresServer } from '../support/postgres.ts';
import { Origins, PlatformProcesses } from './processes.ts';
import { expectWhole, type Figures, write } from './writers.ts';

/** Writers of one round. */
const LOAD = { writers: 24, each: 25, streams: 6 };
/** Share of a round's entries that are acknowledged before its fault. */
const BEFORE = 0.2;

/** Injects a fault into a server. @param url address of the database in use. */
export type Fault = (server: PostgresServer, url: string) => Promise<void>;

/** Faults after which a server answers again. */
export const FAULTS: [what: string, kind: string, Fault][] = [
  ['is killed and starts again', 'restart', (server) => away(server, 0, 'SIGKILL')],
  ['is shut down immediately and starts again', 'restart', (server) => away(server, 0, 'SIGQUIT')],
  ['is away for some seconds', 'restart', (server) => away(server, 3, 'SIGKILL')],
  ['loses a backend to a kill, which restarts all of them', 'backend', killBackend],
  ['ends every connection', 'connections', endConnections],
];

export async function away(server: PostgresServer, seconds: number, signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
  await server.kill(signal);
  await sleep(seconds * 1000);
  await server.start();
}

async function endConnections({ query }: PostgresServer, url: string): Promise<void> {
  await query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
}

const ONE_BACKEND = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle'
  AND pid <> pg_backend_pid() LIMIT 1`;

/** Kills a backend that is working. */
export async function killBackend({ query }: PostgresServer, url: string): Promise<void> {
  for (;;) {
    const { rows } = await query(url, ONE_BACKEND).catch(() => ({ rows: [] }));
    if (rows.length === 0) continue;
    process.kill(rows[0].pid, 'SIGKILL');
    return;
  }
}

/** Figures of a platform after faults. */
export interface Outlived extends Figures {
  /** Number of processes that ended. */
  ended: number;
  /** Time during which requests were refused, over all faults. */
  refusedSeconds: number;
}

/**
 * Injects a fault into the database of two processes that record the entries of 24 writers, a number of times. Expects
 * that no process ends, that every refusal says when to come again, and that nothing is lost or doubled.
 */
export async function outlive<Server extends { createDatabase(): Promise<string> }>(
  server: Server,
  times: number,
  inject: (server: Server, url: string) => Promise<void>,
): Promise<Outlived> {
  const folder = await mkdtemp(join(tmpdir(), 'outliving-'));
  const dataDir = join(folder, 'data');
  const url = await server.createDatabase();
  const platform = await PlatformProcesses.init(['--data', dataDir, '--postgres', url]);
  const origins = new Origins();
  try {
    const served = [await platform.serve(), await platform.serve()];
    for (const { origin } of served) origins.add(origin);
    const load = { ...LOAD, each: LOAD.each * times };
    const writing = write(platform, origins, load);
    for (let time = 0; time < times; time++) {
      const enough = LOAD.writers * LOAD.each * (time + BEFORE);
      await expect.poll(() => writing.acknowledged.size, { timeout: 300_000 }).toBeGreaterThan(enough);
      await inject(server, url);
    }
    await writing.done;
    const ends = served.map(({ child }) => child.exitCode ?? child.signalCode).filter((end) => end !== null);
    expect(ends).toEqual([]);
    expect([...origins.refusals].filter((refusal) => refusal !== '503 database_unavailable after 5')).toEqual([]);
    const at = { origin: served[0]?.origin ?? '', apiKey: platform.apiKey, dataDir, folder };
    const figures = await expectWhole(writing, load, at);
    return { ...figures, ended: ends.length, refusedSeconds: origins.refusedMs / 1000 };
  } finally {
    await origins.close();
    await platform.close();
    await rm(folder, { recursive: true, force: true });
  }
}
