import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runExport } from '../../src/exporter/cli/commands/export.ts';
import { runRuns } from '../../src/exporter/cli/commands/runs.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { carryOut } from '../support/command.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

let service: FalseService;
let directory: string;

function entriesOf(stream_id: string): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const day of ['02', '03', '04'])
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id, timestamp: `2026-11-${day}T12:00:00.000Z` }));
  return entries;
}

const exported = (flags: Record<string, unknown>, json = true) =>
  carryOut(runExport, flags, directory, {
    json,
    environment: { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_this_test' },
  });

beforeAll(async () => {
  service = await startFalseService();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'run-names-'));
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-06T10:00:00.000Z') });
  for (const id of ['a', 'b']) service.streams.set(id, { entries: entriesOf(id) });
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => service.close());

test.each([
  [{ from: '2026-11-03' }, '2026-11-03_now-', '2026-11-03 until 2026-11-06T10:00:00Z'],
  [{ 'all-time': true }, 'all-time-', 'all time until 2026-11-06T10:00:00Z'],
])(
  'what there is until now is another run each day, and one begun earlier goes on: %j',
  async (flags, prefix, period) => {
    const first = await exported(flags);
    expect([first.code, first.document.run_id]).toEqual([0, `${prefix}2026-11-06`]);

    vi.setSystemTime(new Date('2026-11-06T18:00:00.000Z'));
    const again = await exported(flags, false);
    expect(again.stdout).toContain('It contains what the service had at 2026-11-06T10:00:00.000Z, and nothing later.');

    vi.setSystemTime(new Date('2026-11-10T10:00:00.000Z'));
    service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
    const begun = await exported(flags);
    expect([begun.code, begun.document.run_id]).toEqual([3, `${prefix}2026-11-10`]);

    vi.setSystemTime(new Date('2026-11-12T10:00:00.000Z'));
    service.streams.set('b', { entries: entriesOf('b') });
    expect((await exported({ ...flags, stream: ['a'] })).document.run_id).toMatch(
      new RegExp(`^${prefix}2026-11-12_a-`),
    );
    const resumed = await exported(flags);
    expect([resumed.code, resumed.document.run_id]).toEqual([0, `${prefix}2026-11-10`]);
    // Start of the run, not its end: the first streams may lack entries recorded in between.
    expect(resumed.document.begun_at).toBe('2026-11-10T10:00:00.000Z');

    expect((await carryOut(runRuns, {}, directory, { json: false })).stdout).toContain(period);
  },
);

test('the table of runs says how much of the streams each has, and what one that is open was begun for', async () => {
  await exported({ period: '2026-10', stream: ['a'] });
  await exported({ from: '2026-07-01', to: '2026-10-01', request: 'Q3' });
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  await exported({ period: '2026-10', request: 'OPEN-1', stream: ['a', 'b'], exclude: ['c'] });
  const { stdout } = await carryOut(runRuns, {}, directory, { json: false });
  const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/g, ' | '));
  const started = (name: RegExp) => lines.find((line) => name.test(line));
  expect(started(/^2026-10_a-/)).toMatch(/ \| 2026-10 \| empty \| 1 of 2 \| /);
  expect(started(/^Q3/)).toMatch(/^Q3 \| 2026-Q3 \| empty \| 2 of 2 \| /);
  expect(started(/^OPEN-1/)).toMatch(
    /^OPEN-1 \| 2026-10 \| OPEN \| – \| .*streams a b without c, the same export command/,
  );
});

test.each([
  { flags: ['--stream'] },
  { flags: ['--stream='] },
  { flags: ['--exclude'] },
  { flags: ['--exclude', 'a', ''] },
])('a flag whose variable is empty does not mean all streams: $flags', async ({ flags }) => {
  const { code, stderr } = await evidence(['export', ...flags], { cwd: directory });
  expect([code, stderr]).toEqual([2, expect.stringContaining('needs a value')]);
  expect(readdirSync(directory)).toEqual([]);
});
