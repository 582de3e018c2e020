import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from './ports.ts';
import { addressOf, asUser, FAST, initialise, programsOfNpm, queryAt } from './postgres.ts';
import { run } from './process.ts';

/** Databases for one test on the run's PostgreSQL. */
export interface PostgresDatabases {
  /**
   * Creates a database, and returns its address.
   * @param template address of a database to copy, without connections.
   */
  create(template?: string): Promise<string>;
  /** Runs statements as a person with access to the server would. */
  query(url: string, statements: string): Promise<pg.QueryResult>;
  /** Removes the created databases. */
  close(): Promise<void>;
}

const FOLDER = 'postgres-of-all';
const READY = 'port';
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
const ADMINISTRATOR = 'platform';
/** Enough connections for the pools of all concurrent tests. */
const CONNECTIONS = 400;

let made = 0;

/** Returns the PostgreSQL of this test run. The first test that asks starts it, and the end of the run stops it. */
export async function usePostgres(): Promise<PostgresDatabases> {
  const port = await sharedPort();
  const urlOf = (name: string) => `postgres://${ADMINISTRATOR}@127.0.0.1:${port}/${name}`;
  const everywhere = urlOf('postgres');
  const names: string[] = [];
  return {
    async create(template) {
      const name = `test_${process.pid}_${++made}`;
      const from = template === undefined ? '' : ` TEMPLATE ${new URL(template).pathname.slice(1)}`;
      await queryAt(everywhere, `CREATE DATABASE ${name}${from}`);
      names.push(name);
      return urlOf(name);
    },
    query: queryAt,
    async close() {
      for (const name of names.splice(0)) await queryAt(everywhere, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function sharedPort(): Promise<number> {
  const folder = join(tmpdir(), FOLDER);
  const ready = join(folder, READY);
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return portIn(ready);
  }
  const port = await freePort();
  const data = join(folder, 'data');
  const programs = programsOfNpm();
  await initialise({ programs, data, administrator: ADMINISTRATOR });
  const settings = [...addressOf(port, folder), ...FAST, `max_connections=${CONNECTIONS}`, 'autovacuum=off'];
  const options = settings.map((setting) => `-c ${setting}`).join(' ');
  const words = ['start', '--wait', '-D', data, '-l', join(folder, 'log'), '-o', options];
  const [program, ...rest] = asUser(join(programs, 'pg_ctl'), words);
  await run(program, rest);
  endAfter(process.ppid, data);
  writeFileSync(`${ready}.new`, `${port}`);
  renameSync(`${ready}.new`, ready);
  return port;
}

/** Ends the server if the test process is killed before it can. */
function endAfter(pid: number, data: string): void {
  const script = 'tail --pid="$0" -f /dev/null; [ -e "$1" ] && kill -QUIT "$(head -n 1 "$1")"';
  const words = ['-c', script, `${pid}`, join(data, 'postmaster.pid')];
  spawn('sh', words, { detached: true, stdio: 'ignore' }).unref();
}

/** Waits for the port of a server that another process of this run starts. */
async function portIn(ready: string): Promise<number> {
  for (const until = Date.now() + START_WITHIN_MS; !existsSync(ready); await sleep(20))
    if (Date.now() > until) throw new Error(`the PostgreSQL of this test run did not start: see ${ready}`);
  return Number(readFileSync(ready, 'utf8'));
}

/** Ends the server of a test run, if a test started it. */
export async function stopSharedPostgres(temporaryFolder: string): Promise<void> {
  const file = join(temporaryFolder, FOLDER, 'data/postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  // SIGQUIT ends the server without waiting for clients.
  if (pid > 1) process.kill(pid, 'SIGQUIT');
  for (const until = Date.now() + STOP_WITHIN_MS; existsSync(file) && Date.now() < until; ) await sleep(20);
}
