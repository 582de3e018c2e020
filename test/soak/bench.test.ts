import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { findRegressions } from '../bench/regression.ts';
import { bench, type Report } from '../bench/run-bench.ts';

const MINUTES = 60_000;

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
    // If `evidence verify` lacks --threads, there are no rows for one thread.
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
    const { entries, ratios } = JSON.parse(readFileSync(join(import.meta.dirname, '../bench/expected.json'), 'utf8'));
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
