import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chainOf } from '../support/chain.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { runToEnd } from '../support/process.ts';

/** Counts in a service's summary that its entries contradict. */

const RUN = '2026-10';
const MANY = 25;
const entries = chainOf(MANY, { stream_id: 's', action: 'read' });
const VERIFIER = resolve(import.meta.dirname, '../conformance/archive-format/verify.py');

let service: FalseService;
beforeEach(async () => {
  service = await startFalseService();
});
afterEach(() => service.close());

const COUNTED = { counts: [['read', MANY]], others: 0 };

test.each<[what: string, actions: Record<string, number>, exit: number, agreement: string, shown: object | null]>([
  ['as they are', { read: MANY }, 0, 'proved', COUNTED],
  ['as others', { delete: MANY }, 1, 'refuted', COUNTED],
  ['as more', { read: MANY + 1 }, 1, 'refuted', COUNTED],
  ['with one that none is', { read: MANY, delete: 0, write: 1 }, 1, 'refuted', COUNTED],
  ['not at all', {}, 0, 'proved', null],
])('a summary counts entries by action %s', async (_what, actions, exit, agreement, shown) => {
  service.streams.set('s', { entries, actions });
  expect((await service.export({ period: RUN })).code).toBe(exit);
  expect((await service.verify()).code).toBe(exit);
  const record = join(service.directory, 'evidence-archive', 'runs', RUN, 'run.json');
  const [stream] = JSON.parse(readFileSync(record, 'utf8')).streams;
  expect([stream.claims.agreement.state, stream.actions]).toEqual([agreement, shown]);
  const { stdout } = await runToEnd('python3', ['-B', VERIFIER, `${service.directory}/evidence-archive`], {
    cwd: service.directory,
  });
  expect(stdout.includes('the claim agreement is refuted')).toBe(exit === 1);
  expect(stdout).not.toMatch(/records other actions|records agreement/);
});
