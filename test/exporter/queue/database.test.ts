import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isServerAway, QueueDatabase } from '../../../src/exporter/queue/database.ts';
import { DatabaseRate } from '../../../src/exporter/queue/rate.ts';
import { RunQueue } from '../../../src/exporter/queue/run-queue.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres({ durable: true });
  url = await server.createDatabase();
  await (await RunQueue.open(open(), { supervises: false }))[Symbol.asyncDispose]();
});
const opened: QueueDatabase[] = [];
afterAll(async () => {
  await Promise.all(opened.map((database) => database[Symbol.asyncDispose]()));
  await server.stop();
});

const SIGNAL = new AbortController().signal;

function open(at = url, { signal = SIGNAL, notes = [] as string[] } = {}): QueueDatabase {
  const database = new QueueDatabase({ url: at, schema: 'evidence', signal, note: (line) => notes.push(line) });
  opened.push(database);
  return database;
}

test.each<[what: string, error: Error & { code?: string }, away: boolean]>([
  ['a connection that ended', new Error('Connection terminated unexpectedly'), true],
  ['a connection that does not come about', new Error('timeout exceeded when trying to connect'), true],
  ['a statement that is not answered', new Error('Query read timeout'), true],
  ['a client that has ended', new Error('Client has encountered a connection error and is not queryable'), true],
  ['a port without a server', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ['a server that shuts down', Object.assign(new Error('terminating'), { code: '57P01' }), true],
  ['a transaction that was idle for too long', Object.assign(new Error('terminating'), { code: '25P03' }), true],
  ['a connection class', Object.assign(new Error('connection failure'), { code: '08006' }), true],
  ['a wrong password', Object.assign(new Error('password'), { code: '28P01' }), false],
  ['a wrong statement', Object.assign(new Error('Query read timeout is no column'), { code: '42703' }), false],
  ['a defect', new TypeError('undefined is not a function'), false],
])('%s: the server is away or not', (_what, error, away) => {
  expect(isServerAway(error)).toBe(away);
});

test('a process that vanishes inside a transaction holds up no other, and its transaction begins anew', async () => {
  const notes: string[] = [];
  const write =
    "INSERT INTO evidence.workers VALUES ('v', now(), now()) ON CONFLICT (name) DO UPDATE SET seen_at = now()";
  const { promise: returns, resolve: comeBack } = Promise.withResolvers<void>();
  let began = 0;
  const database = open(url, { notes });
  await database.query('SELECT 1');
  const vanished = database.transaction(async (query) => {
    began++;
    await query(write);
    await returns;
    return query<{ n: number }>('SELECT 4 AS n');
  });
  await expect.poll(() => began).toBe(1);
  await open().query(write);
  comeBack();
  expect(await vanished).toEqual([{ n: 4 }]);
  expect(began).toBe(2);
  expect(notes.join('\n')).toContain('waiting for it');
});

test('a PostgreSQL that goes away is waited for, and so is what was asked of it', async () => {
  const notes: string[] = [];
  const database = open(url, { notes });
  await database.query('SELECT 1');
  await server.kill();
  const asked = database.query<{ n: number }>('SELECT 2 AS n');
  const written = database.transaction(async (query) => {
    await query("INSERT INTO evidence.workers VALUES ('t', now(), now()) ON CONFLICT DO NOTHING");
    return query<{ n: number }>('SELECT 3 AS n');
  });
  await expect.poll(() => notes.join('\n')).toMatch(/does not answer \(.*\); waiting for it/);
  await server.start();
  expect(await asked).toEqual([{ n: 2 }]);
  expect(await written).toEqual([{ n: 3 }]);
  expect(notes.at(-1)).toBe(`127.0.0.1:${server.port} answers again`);
  expect(await database.query("SELECT 1 FROM evidence.workers WHERE name = 't'")).toHaveLength(1);
});

test('what waits for it ends with the command', async () => {
  const controller = new AbortController();
  const notes: string[] = [];
  const database = open(url, { signal: controller.signal, notes });
  await database.query('SELECT 1');
  await server.kill();
  const asked = database.query('SELECT 2');
  await expect.poll(() => notes).toHaveLength(1);
  controller.abort(new Error('ended'));
  await expect(asked).rejects.toThrow('ended');
  await server.start();
});

test('a transaction that fails is rolled back, and its connection used no more', async () => {
  const database = open();
  const failing = database.transaction(async (query) => {
    await query("INSERT INTO evidence.workers VALUES ('half', now(), now())");
    throw new Error('in the middle');
  });
  await expect(failing).rejects.toThrow('in the middle');
  expect(await database.query("SELECT 1 FROM evidence.workers WHERE name = 'half'")).toEqual([]);
});

describe('a queue that cannot be used', () => {
  test('nobody listens: at once', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    listener.close();
    await expect(open(`postgres://u:secret@127.0.0.1:${port}/d`).query('SELECT 1')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(new RegExp(`^the queue at 127.0.0.1:${port} does not answer: `)),
    });
  });

  test('no such database, and no such right', async () => {
    await expect(open(url.replace(/platform_\d+$/, 'none')).query('SELECT 1')).rejects.toMatchObject({
      code: 'config',
    });
    await server.query(url, 'CREATE ROLE stranger LOGIN; REVOKE CREATE ON DATABASE postgres FROM PUBLIC');
    const stranger = url.replace('platform@', 'stranger@');
    await expect(RunQueue.open(open(stranger), { supervises: false })).rejects.toMatchObject({ code: 'config' });
  });

  test('its address is in no error', async () => {
    const error = await open('postgres://u:hunter2hunter2@127.0.0.1:9/d')
      .query('SELECT 1')
      .catch((one: Error) => one);
    expect(JSON.stringify([String(error), (error as { nextStep?: string }).nextStep])).not.toContain('hunter2');
  });
});

describe('the rate', () => {
  const ORIGIN = 'https://audit.example.com';

  test('is kept over processes, each of which asks as fast as it can', async () => {
    const rates = [1, 2, 3, 4].map(() => new DatabaseRate(open(), SIGNAL));
    const granted: number[] = [];
    const asking = rates.map(async (rate) => {
      for (let n = 0; n < 25; n++) {
        await rate.admit(`${ORIGIN}/1`, 100);
        granted.push(performance.now());
      }
    });
    await Promise.all(asking);
    granted.sort((a, b) => a - b);
    // The database spaces the grants; some arrive here closer together.
    const took = (granted.at(-1) ?? 0) - (granted[0] ?? 0);
    expect(took).toBeGreaterThan(0.97 * 99 * 10);
    for (const [index, at] of granted.entries()) {
      const within = granted.slice(index).filter((one) => one < at + 500).length;
      expect(within).toBeLessThanOrEqual(55);
    }
  });

  test('leaves nobody out', async () => {
    const rates = [1, 2, 3, 4].map(() => new DatabaseRate(open(), SIGNAL));
    const counts = await Promise.all(
      rates.map(async (rate) => {
        let count = 0;
        const end = performance.now() + 1500;
        while (performance.now() < end) {
          await rate.admit(`${ORIGIN}/2`, 80);
          count += 1;
        }
        return count;
      }),
    );
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 3);
  });

  test('pauses for all when one was told to wait', async () => {
    const [one, other] = [new DatabaseRate(open(), SIGNAL), new DatabaseRate(open(), SIGNAL)];
    await one.admit(`${ORIGIN}/3`, 1000);
    one.pause(`${ORIGIN}/3`, 700);
    const began = performance.now();
    await one.admit(`${ORIGIN}/3`, 1000);
    expect(performance.now() - began).toBeGreaterThan(600);
    one.pause(`${ORIGIN}/3`, 700);
    await one.admit(`${ORIGIN}/other`, 1000);
    const again = performance.now();
    await other.admit(`${ORIGIN}/3`, 1000);
    expect(performance.now() - again).toBeGreaterThan(500);
  });

  test('is none where none is configured', async () => {
    const rate = new DatabaseRate(open(), SIGNAL);
    const began = performance.now();
    for (let n = 0; n < 50; n++) await rate.admit(`${ORIGIN}/4`, Number.POSITIVE_INFINITY);
    expect(performance.now() - began).toBeLessThan(3000);
  });

  test('a process that dies in its turn leaves it to the next one', async () => {
    const rate = new DatabaseRate(open(), SIGNAL);
    await rate.admit(`${ORIGIN}/5`, 1000);
    const pids = await open().query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    expect(pids).toHaveLength(1);
    const dying = open();
    await dying.query('SELECT 1');
    const turn = dying.query('SELECT evidence.admit($1, 4)', [`${ORIGIN}/5`]).catch(() => null);
    await expect
      .poll(() => open().query("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%admit%' AND wait_event = 'PgSleep'"))
      .toHaveLength(1);
    const began = performance.now();
    await open().query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    await rate.admit(`${ORIGIN}/5`, 1000);
    expect(performance.now() - began).toBeLessThan(2000);
    await turn;
  });
});
