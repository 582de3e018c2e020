import { describe, expect, test } from 'vitest';
import { readOptions } from './options.ts';
import { inTurn, median } from './program.ts';
import { findRegressions } from './regression.ts';
import { toRow } from './row.ts';
import { bench } from './run-bench.ts';
import { refuseUnsound } from './soundness.ts';
import { formatTable } from './table.ts';

describe('what cannot be measured is refused', () => {
  test.each([
    [['--entries', '12'], '--entries is not a whole number of at least 1000'],
    [['--runs', '0'], '--runs is not'],
    [['--slow'], '--slow'],
  ])('%j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  test.each([
    [['--only', 'verify,speed'], {}, 'there is no row "speed"'],
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
