import { afterAll, beforeAll, expect, test } from 'vitest';
import { away, killBackend, type Outlived, outlive } from '../platform/outliving.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { ReplicatedPostgres } from '../support/replicated-postgres.ts';

/** Number of times that each fault is injected. */
const TIMES = Number(process.env['FAULTS'] ?? 10);
const HOUR = 3_600_000;

let server: PostgresServer;
let replicated: ReplicatedPostgres;
const results: string[] = [];
beforeAll(async () => {
  server = await startPostgres({ durable: true });
  replicated = await ReplicatedPostgres.start();
});
afterAll(async () => {
  process.stdout.write(`${['fault, times', ...COLUMNS].join(' | ')}\n${results.join('\n')}\n`);
  await server.stop();
  await replicated.stop();
});

const COLUMNS = ['acknowledged', 'found', 'lost', 'doubled', 'ended', 'refusedSeconds'] as const;

const CASES: [what: string, () => Promise<Outlived>][] = [
  ['immediate shutdown and start', () => outlive(server, TIMES, (each) => away(each, 0, 'SIGQUIT'))],
  ['kill -9 of a backend', () => outlive(server, TIMES, killBackend)],
  ['away for a minute', () => outlive(server, TIMES, (each) => away(each, 60, 'SIGQUIT'))],
  ['failover to a standby', () => outlive(replicated, TIMES, (each) => each.failOver('closing'))],
  ['failover from a primary that vanishes', () => outlive(replicated, TIMES, (each) => each.failOver('silent'))],
];

test.each(CASES)(`two processes outlive ${TIMES} times: %s`, { timeout: HOUR }, async (what, run) => {
  const figures = await run();
  results.push([`${what}, ${TIMES}`, ...COLUMNS.map((name) => figures[name].toFixed())].join(' | '));
  expect(figures).toMatchObject({ lost: 0, doubled: 0, ended: 0 });
});
