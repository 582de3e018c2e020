import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kill, PlatformProcesses } from '../platform/processes.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const POLLS = 10_000;
/** In turns, so that whatever else the machine does meets all of them. */
const ROUNDS = 5;
/** In a second, over connections that are kept: those of a minute, ten times as many, and as fast as they go. */
const PACES = [POLLS / 60, POLLS / 6, Number.POSITIVE_INFINITY] as const;
const CONNECTIONS = 8;
const WARMING_UP = 16_000;
const IDLE_MS = 10_000;
/** Of what the bare server takes, at ten times the pace: at the even one both pay above all for waking up. */
const MOST = 2.8;

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

/** The least that Node.js can do: the same answer, without looking at the request. */
const BARE = `
  const headers = { 'x-request-id': crypto.randomUUID(), 'cache-control': 'no-store', etag: '"0"',
    'ratelimit-policy': '"requests";q=600000;w=60', ratelimit: '"requests";r=599999;t=30' };
  const server = require('node:http').createServer((_, response) => response.writeHead(304, headers).end());
  server.listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + server.address().port));`;

/** Polls with the last `ETag`, so that nothing is new. */
class Poller {
  readonly #child: ChildProcess;
  readonly #pool: Pool;
  readonly #request;
  #idle = 0;

  private constructor(child: ChildProcess, origin: string, headers: Record<string, string>) {
    this.#child = child;
    this.#pool = new Pool(origin, { connections: CONNECTIONS });
    this.#request = { method: 'GET', path: '/traps/api/v1/detections/', headers } as const;
    running.push(() => this.#pool.close());
  }

  static async start(served: { child: ChildProcess; origin: string }, apiKey: string): Promise<Poller> {
    const authorization = `Bearer ${apiKey}`;
    const first = await fetch(`${served.origin}/traps/api/v1/detections/`, { headers: { authorization } });
    await first.text();
    const etag = first.headers.get('etag') ?? '';
    const poller = new Poller(served.child, served.origin, { authorization, 'if-none-match': etag });
    await poller.#pollAll(WARMING_UP, Number.POSITIVE_INFINITY);
    const before = poller.#processorTime();
    await sleep(IDLE_MS);
    poller.#idle = (poller.#processorTime() - before) / IDLE_MS;
    return poller;
  }

  /** Microseconds of the processor that a poll takes, above what the process takes without any. */
  async cost(pace: number): Promise<number> {
    const [began, before] = [performance.now(), this.#processorTime()];
    await this.#pollAll(POLLS / ROUNDS, pace);
    const taken = this.#processorTime() - before;
    return ((taken - this.#idle * (performance.now() - began)) / (POLLS / ROUNDS)) * 1000;
  }

  async #pollAll(polls: number, pace: number): Promise<void> {
    const began = performance.now();
    let next = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (next < polls) {
          const early = began + (next++ * 1000) / pace - performance.now();
          if (early > 0) await sleep(early);
          const { statusCode, body } = await this.#pool.request(this.#request);
          await body.dump();
          expect(statusCode).toBe(304);
        }
      }),
    );
  }

  /** Milliseconds of all threads. https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat */
  #processorTime(): number {
    const tasks = `/proc/${this.#child.pid}/task`;
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

test('a poll with nothing new costs less than three times the least that Node.js can do', async () => {
  const bare = await startBare();
  const sqlite = await startPlatform(['--data', join(folder, 'sqlite')]);
  const url = await postgres.createDatabase();
  const onPostgres = await startPlatform(['--data', join(folder, 'postgres'), '--postgres', url]);
  const shares = new Map<number, number>();
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
    shares.set(pace, here / least);
  }
  expect(shares.get(PACES[1])).toBeLessThan(MOST);
}, 600_000);

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}
