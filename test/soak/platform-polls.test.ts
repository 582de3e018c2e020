import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kill, PlatformProcesses } from '../platform/processes.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const POLLS = 10_000;
/** Rounds that alternate between servers, so that other load affects all of them. */
const ROUNDS = 5;
/** Polls per second over kept connections: a minute's polls, ten times as many, and unlimited. */
const PACES = [POLLS / 60, POLLS / 6, Number.POSITIVE_INFINITY] as const;
const WARMING_UP = 16_000;
const IDLE_MS = 10_000;
/** Bound on the CPU share for a minute's polls that come together; at an even pace, waking up dominates the cost. */
const MOST = 0.02;

let folder: string;
let postgres: PostgresServer;
const running: (() => Promise<void>)[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-polls-'));
  postgres = await startPostgres();
});
afterAll(async () => {
  for (const end of running) await end();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

/** A minimal Node.js server that returns the same answer without reading the request. */
const BARE = `
  const headers = { 'x-request-id': crypto.randomUUID(), 'cache-control': 'no-store', etag: '"0"',
    'ratelimit-policy': '"requests";q=600000;w=60', ratelimit: '"requests";r=599999;t=30' };
  const server = require('node:http').createServer((_, response) => response.writeHead(304, headers).end());
  server.listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + server.address().port));`;

/** A server, and a program that polls it with the last `ETag`, so that every answer is 304. */
class Poller {
  readonly #server: ChildProcess;
  readonly #client: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;
  #idle = 0;

  private constructor(server: ChildProcess, origin: string, apiKey: string) {
    this.#server = server;
    const words = [fileURLToPath(new URL('poll-client.ts', import.meta.url)), origin, `Bearer ${apiKey}`];
    this.#client = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface(this.#client.stdout)[Symbol.asyncIterator]();
    running.push(() => kill(this.#client));
  }

  static async start(served: { child: ChildProcess; origin: string }, apiKey: string): Promise<Poller> {
    const poller = new Poller(served.child, served.origin, apiKey);
    await poller.#poll(WARMING_UP, Number.POSITIVE_INFINITY);
    const before = poller.#processorTime();
    await sleep(IDLE_MS);
    poller.#idle = (poller.#processorTime() - before) / IDLE_MS;
    return poller;
  }

  /** Returns CPU microseconds per poll, in excess of an idle process. */
  async cost(pace: number): Promise<number> {
    const [began, before] = [performance.now(), this.#processorTime()];
    await this.#poll(POLLS / ROUNDS, pace);
    const taken = this.#processorTime() - before;
    return ((taken - this.#idle * (performance.now() - began)) / (POLLS / ROUNDS)) * 1000;
  }

  async #poll(polls: number, pace: number): Promise<void> {
    this.#client.stdin.write(`${polls} ${pace}\n`);
    expect(await this.#answers.next()).toMatchObject({ value: 'done' });
  }

  /** Returns CPU milliseconds of all threads. https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat */
  #processorTime(): number {
    const tasks = `/proc/${this.#server.pid}/task`;
    const times = readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]);
    return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0) / 1e6;
  }
}

async function startBare(): Promise<Poller> {
  const child = spawn(process.execPath, ['--eval', BARE], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(() => kill(child));
  const [line] = await once(createInterface(child.stdout), 'line');
  return Poller.start({ child, origin: /http:\S+/.exec(line)?.[0] ?? '' }, 'none');
}

async function startPlatform(words: readonly string[]): Promise<Poller> {
  const platform = await PlatformProcesses.init(words);
  running.push(() => platform.close());
  return Poller.start(await platform.serve(), platform.apiKey);
}

test('ten thousand polls a minute with nothing new cost less than two hundredths of a processor', async () => {
  const bare = await startBare();
  const sqlite = await startPlatform(['--data', join(folder, 'sqlite')]);
  const url = await postgres.createDatabase();
  const onPostgres = await startPlatform(['--data', join(folder, 'postgres'), '--postgres', url]);
  let together = Number.NaN;
  for (const pace of PACES) {
    const rounds: number[][] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push([await bare.cost(pace), await sqlite.cost(pace), await onPostgres.cost(pace)]);
    const [least = 0, here = 0, there = 0] = [0, 1, 2].map((server) =>
      median(rounds.map((costs) => costs[server] ?? 0)),
    );
    const [a, b, c] = [least, here, there].map(Math.round);
    const name = Number.isFinite(pace) ? `${Math.round(pace)} polls/s` : 'as fast as they go';
    process.stdout.write(`${name}: µs of a bare server ${a}, on SQLite ${b}, on PostgreSQL ${c}\n`);
    together = here;
  }
  expect((together * POLLS) / 60e6).toBeLessThan(MOST);
}, 600_000);

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}
