import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { runPlatform } from './command.ts';
import { kill, Origins, PlatformProcesses, PROGRAM } from './processes.ts';
import { call, entry } from './service.ts';
import { expectWhole, write } from './writers.ts';

const LOAD = { writers: 24, each: 25, streams: 6 };
/** Number of times that each fault is injected; test/soak has more. */
const TIMES = Number(process.env['FAULTS'] ?? 1);

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outages-'));
  server = await startPostgres({ durable: true });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const ONE_BACKEND = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle'";

const FAULTS: [string, (url: string) => Promise<void>][] = [
  [
    'is killed and starts again',
    async () => {
      await server.kill();
      await server.start();
    },
  ],
  [
    'loses a backend to a kill, which restarts all of them',
    async (url) => {
      for (;;) {
        const { rows } = await server
          .query(url, `${ONE_BACKEND} AND pid <> pg_backend_pid() LIMIT 1`)
          .catch(() => ({ rows: [] }));
        if (rows.length === 0) continue;
        process.kill(rows[0].pid, 'SIGKILL');
        return;
      }
    },
  ],
  [
    'is away for some seconds',
    async () => {
      await server.kill();
      await sleep(3000);
      await server.start();
    },
  ],
  [
    'ends every connection',
    async (url) => {
      await server.query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
    },
  ],
];

test.each(FAULTS)(
  'two processes outlive a PostgreSQL that %s: nothing is lost or doubled, and refusals say when to come again',
  async (_what, fault) => {
    const dataDir = await mkdtemp(join(folder, 'data-'));
    const url = await server.createDatabase();
    const platform = await PlatformProcesses.init(['--data', dataDir, '--postgres', url]);
    const origins = new Origins();
    onTestFinished(async () => {
      await origins.close();
      await platform.close();
    });
    const served = [await platform.serve(), await platform.serve()];
    for (const { origin } of served) origins.add(origin);
    const writing = write(platform, origins, { ...LOAD, each: LOAD.each * TIMES });
    for (let time = 0; time < TIMES; time++) {
      await expect.poll(() => writing.acknowledged.size).toBeGreaterThan(LOAD.writers * LOAD.each * (time + 0.2));
      await fault(url);
    }
    await writing.done;
    expect(served.map(({ child }) => [child.exitCode, child.signalCode])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect([...origins.refusals].filter((refusal) => refusal !== '503 database_unavailable after 5')).toEqual([]);
    const [first] = served;
    const at = { origin: first?.origin ?? '', apiKey: platform.apiKey, dataDir, folder };
    await expectWhole(writing, { ...LOAD, each: LOAD.each * TIMES }, at);
  },
);

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
  expect(await statusAt(`${origin}/ready`)).toBe(200);
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
  await once(socket, 'close');
  expect(socket.bytesRead).toBe(0);
});

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
