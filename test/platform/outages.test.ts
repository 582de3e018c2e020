import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startPlatform } from '../../src/platform/app.ts';
import { listen } from '../../src/platform/http/listen.ts';
import { RATE_LIMITS } from '../../src/platform/http/principal.ts';
import { createServer } from '../../src/platform/http/server.ts';
import { initPlatform } from '../../src/platform/init.ts';
import { DATABASE_AWAY, DatabaseAway } from '../../src/platform/setup.ts';
import { FullDisk } from '../support/full-disk.ts';
import { freePort } from '../support/ports.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { ReplicatedPostgres } from '../support/replicated-postgres.ts';
import { someRows } from '../support/some-rows.ts';
import { runPlatform } from './command.ts';
import { FAULTS, outlive } from './outliving.ts';
import { kill, PlatformProcesses, PROGRAM } from './processes.ts';
import { call, entry } from './service.ts';

let folder: string;
let server: PostgresServer;
let replicated: ReplicatedPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outages-'));
  [server, replicated] = await Promise.all([startPostgres({ durable: true }), ReplicatedPostgres.start()]);
});
afterAll(async () => {
  await replicated.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each(someRows(FAULTS, ([, kind]) => kind))(
  'two processes outlive a PostgreSQL that %s: nothing is lost or doubled, and refusals say when to come again',
  async (_what, _kind, fault) => {
    await outlive(server, 1, fault);
  },
);

test('two processes outlive a failover from a primary that vanishes and closes no connection', async () => {
  await outlive(replicated, 1, () => replicated.failOver('silent'));
});

test('a start during a failover refuses writes until the standby is the primary', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const url = await replicated.createDatabase();
  const { apiKey } = await PlatformProcesses.init(['--data', dataDir, '--postgres', url]);
  await replicated.loseThePrimary();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = begin(dataDir, url, port);
  await expect.poll(() => statusAt(`${origin}/health`)).toBe(200);
  const append = () => call(`${origin}/audit`, apiKey, 'POST', '/entries/', entry('s', 1));
  await expect.poll(append).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
  await replicated.promote();
  await expect.poll(append).toMatchObject({ status: 201 });
  await expect.poll(() => statusAt(`${origin}/ready`)).toBe(200);
  expect(child.exitCode).toBe(null);
});

/** Starts a process on a port, without waiting for it. */
function begin(dataDir: string, url: string, port: number): ChildProcess {
  const words = ['serve', '--data', dataDir, '--postgres', url, '--port', String(port)];
  const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => kill(child));
  return child;
}

const statusAt = async (url: string) => (await fetch(url).catch(() => null))?.status ?? null;

test('a start waits for its database, and answers that it is alive but not ready', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const url = await server.createDatabase();
  const { apiKey } = await PlatformProcesses.init(['--data', dataDir, '--postgres', url]);
  await server.kill();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { stdout } = begin(dataDir, url, port);
  await expect.poll(() => statusAt(`${origin}/health`)).toBe(200);
  const ready = await fetch(`${origin}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { ready: false, checks: { database: false }, reasons: { database: 'the database does not answer' } },
  ]);
  const refused = await call(`${origin}/audit`, apiKey, 'POST', '/entries/', entry('s', 1));
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
    503,
    'database_unavailable',
    '5',
  ]);
  const listening = once(createInterface(stdout as NonNullable<typeof stdout>), 'line');
  await server.start();
  expect(await listening).toEqual([`listening on ${origin}`]);
  await expect.poll(() => statusAt(`${origin}/ready`)).toBe(200);
  expect((await call(`${origin}/audit`, apiKey, 'POST', '/entries/', entry('s', 1))).status).toBe(201);
});

test('a start that waits ends on SIGTERM, and gives up with an exit code after which units start again', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const url = await server.createDatabase();
  await PlatformProcesses.init(['--data', dataDir, '--postgres', url]);
  await server.kill();
  onTestFinished(() => server.start());
  const port = await freePort();
  const child = begin(dataDir, url, port);
  await expect.poll(() => statusAt(`http://127.0.0.1:${port}/health`)).toBe(200);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const given = startPlatform({ dataDir, postgresUrl: url, port: 0, logLevel: 'silent', databaseWaitMs: 10 });
  await expect(given).rejects.toThrow(DatabaseAway);
  const { code, stderr } = await runPlatform(['people', 'list', '--data', dataDir, '--postgres', url]);
  expect([code, stderr]).toEqual([DATABASE_AWAY, expect.stringContaining('cannot be used: connect ECONNREFUSED')]);
});

test('a connection that sends nothing is closed', async () => {
  const server = createServer({
    logLevel: 'silent',
    requestTimeoutMs: 200,
    rateLimits: RATE_LIMITS,
    clock: () => new Date(),
    authenticate: () => Promise.reject(new Error('never')),
  });
  onTestFinished(() => server.close());
  const origin = await listen(server, { host: '127.0.0.1', port: 0 });
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
});

const DISKS = [
  {
    full: 'data',
    place: (path: string) => ({ data: join(path, 'data') }),
    end: 'SELECT 1',
    refused: [507, 'storage_full', 'the disk of the database is full'],
    logged: 'No space left on device',
  },
  {
    full: 'write-ahead log',
    place: (path: string) => ({ wal: join(path, 'wal') }),
    // The next write needs a new file.
    end: 'SELECT pg_switch_wal()',
    // The server ends, and cannot start until there is space.
    refused: [503, 'database_unavailable', 'the database does not answer'],
    logged: 'connect ECONNREFUSED',
  },
];

test.each(DISKS)(
  'PostgreSQL without space for its $full is named, and used again after there is space',
  async (row) => {
    const disk = await FullDisk.mount(160);
    onTestFinished(() => disk.unmount());
    const crowded = await startPostgres({ ...row.place(disk.path), durable: true });
    onTestFinished(() => crowded.stop());
    const dataDir = await mkdtemp(join(folder, 'data-'));
    const url = await crowded.createDatabase();
    const { apiKey } = await PlatformProcesses.init(['--data', dataDir, '--postgres', url]);
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const child = begin(dataDir, url, port);
    let log = '';
    child.stderr?.on('data', (text) => {
      log += text;
    });
    let number = 0;
    const append = () => call(`${origin}/audit`, apiKey, 'POST', '/entries/', entry('s', ++number));
    const ready = async () => (await call(origin, apiKey, 'GET', '/ready')).body;
    await expect.poll(() => statusAt(`${origin}/ready`)).toBe(200);
    expect((await append()).status).toBe(201);
    disk.fill();
    await crowded.query(url, row.end);
    const state = async () => {
      const { status, body } = await append();
      return [status, body.code, (await ready()).reasons.database];
    };
    await expect.poll(state).toEqual(row.refused);
    await expect.poll(() => log).toContain(row.logged);
    disk.free();
    await crowded.kill();
    await crowded.start();
    await expect.poll(async () => (await append()).status).toBe(201);
    await expect.poll(ready).toMatchObject({ ready: true, reasons: {} });
    expect(child.exitCode).toBe(null);
  },
);

test('a full disk is 507, and is named in /ready until there is room again', async () => {
  const disk = await FullDisk.mount(16);
  onTestFinished(() => disk.unmount());
  const dataDir = join(disk.path, 'data');
  const { apiKey } = await initPlatform({ dataDir });
  const platform = await startPlatform({ dataDir, port: 0, logLevel: 'silent' });
  onTestFinished(() => platform.close());
  const append = (number: number) => call(platform.auditUrl, apiKey, 'POST', '/entries/', entry('s', number));
  const ready = async () => (await fetch(`${platform.origin}/ready`)).json();
  expect((await append(1)).status).toBe(201);
  disk.fill();
  let number = 1;
  await expect.poll(async () => (await append(++number)).status).toBe(507);
  expect((await append(number)).body).toMatchObject({ code: 'storage_full', retry_after: 5 });
  await expect.poll(ready).toMatchObject({ ready: false, reasons: { database: 'the disk of the database is full' } });
  disk.free();
  await expect.poll(async () => (await append(number)).status).toBe(201);
  await expect.poll(ready).toMatchObject({ ready: true, reasons: {} });
});
