import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { finish, startNode } from '../support/process.ts';
import { inTurn, median } from './program.ts';
import { findRegressions } from './regression.ts';
import { type Row, toRow } from './row.ts';
import { refuseUnsound } from './soundness.ts';
import { formatTable } from './table.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const MINUTES = 60_000;

interface Report {
  machine: Record<string, unknown>;
  planted: Record<string, { entries: number; bad: number }>;
  rows: Row[];
}

async function bench(args: readonly string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
  const json = join(folder, 'bench.json');
  const { code, stdout, stderr } = await finish(startNode(MAIN, [...args, '--json', json], { cwd: folder, env }));
  const report = () => JSON.parse(readFileSync(json, 'utf8')) as Report;
  return { code, stdout, stderr, report };
}

describe('on a tiny size', () => {
  let stdout: string;
  let report: Report;
  beforeAll(async () => {
    const done = await bench(['--quick', '--entries', '1000', '--runs', '1']);
    expect(done.code, done.stderr).toBe(0);
    stdout = done.stdout;
    report = done.report();
  }, 5 * MINUTES);

  test('every row is produced, with figures', () => {
    // `evidence verify` may know no --threads, and then has no rows of one thread.
    const ids = report.rows.map(({ id }) => id).filter((id) => !id.endsWith('-one-thread'));
    expect(ids).toEqual([
      'verify/any-order-all-cores',
      'verify/canonical-all-cores',
      'verify/seals-all-cores',
      'verify/any-order-all-cores-against-peer',
      'verify/seals-all-cores-against-peer',
      'growth/memory-0.1',
      'growth/memory-0.5',
      'growth/memory-1',
      'growth/time-0.1',
      'export/speed-recorded',
      'export/memory-recorded',
      'export/speed-platform',
      'export/memory-platform',
      'streams/time-recorded',
      'streams/time-platform',
      'streams/requests',
      'plan/memory',
      'download/speed',
      'download/memory',
      'start/help',
      'platform/append',
      'platform/verify',
    ]);
    for (const { id, ours, other, ratio } of report.rows) {
      expect(ours.value, id).toBeGreaterThan(0);
      if (other !== null) expect([other.value > 0, ratio !== null && ratio > 0], id).toEqual([true, true]);
    }
  });

  test('it is one table, and says on which machine', () => {
    const [head, ...lines] = stdout.slice(stdout.indexOf('what ')).trim().split('\n');
    expect(head).toMatch(/^what +ours +limit\/peer +ratio +goal$/);
    expect(lines.slice(1)).toHaveLength(report.rows.length);
    for (const [at, { what }] of report.rows.entries()) expect(lines[at + 1]).toContain(what);
    expect(stdout).toContain(`Node.js ${process.version}`);
    expect(report.machine).toMatchObject({ node: process.version, cores: expect.any(Number) });
  });

  test('limit, peer and we see the same entries and find the one that was planted', () => {
    const names = ['limit', 'peer', 'ours', 'ours, canonical'].flatMap((name) => [name, `${name} with seals`]);
    expect(Object.keys(report.planted).sort()).toEqual(names.sort());
    for (const [name, verdict] of Object.entries(report.planted))
      expect(verdict, name).toEqual({ entries: 1000, bad: 1 });
  });
});

test(
  'no ratio on record became worse by half',
  async () => {
    const { entries, ratios } = JSON.parse(readFileSync(join(import.meta.dirname, 'expected.json'), 'utf8'));
    const sections = new Set(Object.keys(ratios).map((id) => id.split('/')[0]));
    const args = ['--quick', '--entries', String(entries), '--only', [...sections].join(',')];
    const { code, stderr, report } = await bench(args);
    expect(code, stderr).toBe(0);
    expect(
      findRegressions(report().rows, ratios),
      'if that is meant, record what the bench shows in test/bench/expected.json',
    ).toEqual([]);
  },
  5 * MINUTES,
);

describe('what cannot be measured is refused', () => {
  test.each([
    [['--only', 'verify,speed'], {}, 'there is no row "speed"'],
    [['--entries', '12'], {}, '--entries is not a whole number of at least 1000'],
    [['--runs', '0'], {}, '--runs is not'],
    [['--slow'], {}, '--slow'],
    [['--only', 'start'], { PATH: '/nowhere' }, 'apt-get install gcc libc6-dev libssl-dev'],
  ])('%j %j', async (args, env, message) => {
    const { code, stdout, stderr } = await bench(args, env);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect([code, stdout]).toEqual([1, '']);
  });

  test.each([
    ['misses what was planted', { entries: 1000, bad: 0 }],
    ['finds more than was planted', { entries: 1000, bad: 2 }],
    ['does not see all entries', { entries: 999, bad: 1 }],
  ])('a verifier that %s', (_, verdict) => {
    const sound = { entries: 1000, bad: 1 };
    expect(() => refuseUnsound({ limit: sound, ours: sound })).not.toThrow();
    expect(() => refuseUnsound({ limit: sound, ours: verdict })).toThrow('ours');
  });
});

describe('figures', () => {
  test('programs run in turn, and what counts is the median of each figure', async () => {
    const order: string[] = [];
    const seconds = { a: [5, 1, 3], b: [2, 9, 4] };
    const figures = await inTurn(3, ['a', 'b'] as const, async (name) => {
      order.push(name);
      return { seconds: seconds[name][Math.floor((order.length - 1) / 2)] ?? 0 };
    });
    expect(order.join('')).toBe('ababab');
    expect(figures).toEqual({ a: { seconds: 3 }, b: { seconds: 4 } });
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  const measured = (bound: '≥' | '≤', ratio: number) =>
    toRow({
      id: 'row/one',
      what: 'work',
      ours: { value: 1234.5, unit: 's' },
      other: { name: 'peer', value: 2, unit: 's' },
      ratio,
      goal: { of: 'ratio', bound, value: 2 },
    });

  test.each([
    ['≥', 2, true],
    ['≥', 1.99, false],
    ['≤', 2, true],
    ['≤', 2.01, false],
  ] as const)('a goal of %s 2 with a ratio of %d: %s', (bound, ratio, met) => {
    expect(measured(bound, ratio).met).toBe(met);
    expect(formatTable([measured(bound, ratio)])).toContain(`${met ? '✓' : '✗'} ${bound} 2 ×`);
  });

  test.each([
    ['≥', 0.51, []],
    ['≥', 0.49, ['row/one: 0.490, on record 1']],
    ['≤', 1.99, []],
    ['≤', 2.01, ['row/one: 2.01, on record 1']],
  ] as const)('of a ratio that was 1 and shall be %s, %d', (bound, ratio, regressions) => {
    expect(findRegressions([measured(bound, ratio)], { 'row/one': 1 })).toEqual(regressions);
  });

  test('a record of what is not measured is a mistake', () => {
    expect(() => findRegressions([measured('≥', 1)], { 'row/two': 1 })).toThrow('row/two');
  });
});
