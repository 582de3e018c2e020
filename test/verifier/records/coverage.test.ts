import { expect, test } from 'vitest';
import { coverMonths } from '../../../src/verifier/records/coverage.ts';
import { describeMonth, toMonthReport } from '../../../src/verifier/records/month-report.ts';
import { wholeMonths } from '../../../src/verifier/records/months.ts';
import type { EarlierRun } from '../../../src/verifier/records/record.ts';
import { earlierRun } from '../../support/run-records.ts';

const NOW = new Date('2026-11-21T03:04:05.678Z');
const DAY = 'T00:00:00.000Z';

const month = (name: string, more: Partial<EarlierRun> = {}) => ({ ...earlierRun(name), ...more });
const between = (from: string | null, until: string, more: Partial<EarlierRun> = {}): EarlierRun => ({
  ...earlierRun('2026-01'),
  run_id: `${from}..${until}`,
  period: { from: from === null ? null : `${from}${DAY}`, to: `${until}${DAY}` },
  until: `${until}${DAY}`,
  ...more,
});
const allTime = (until: string, first_entry: string | null): EarlierRun =>
  between(null, until, { run_id: 'all', period: { from: null, to: null }, first_entry });
const FEW = { listed: 29, left_out: 28 };

type Row = [words: string, runs: EarlierRun[], said: string[]];

test.each<Row>([
  ['no run', [], []],
  ['months in a row', [month('2026-09'), month('2026-10')], ['2026-09 whole 2026-09', '2026-10 whole 2026-10']],
  [
    'one missing between',
    [month('2026-08'), month('2026-10')],
    ['2026-08 whole 2026-08', '2026-09 none', '2026-10 whole 2026-10'],
  ],
  ['the last ones missing', [month('2026-08')], ['2026-08 whole 2026-08', '2026-09 none', '2026-10 none']],
  ['the month that has not ended counts for nothing', [allTime('2026-11-21', '2026-10-03')], ['2026-10 whole all']],
  [
    'an older one exported later',
    [month('2026-10'), month('2026-09')],
    ['2026-09 whole 2026-09', '2026-10 whole 2026-10'],
  ],
  ['one stream of many', [month('2026-10', FEW)], ['2026-10 partial 2026-10 1/29 all days']],
  ['one stream, then all', [month('2026-10', { run_id: 'try', ...FEW }), month('2026-10')], ['2026-10 whole 2026-10']],
  ['all, then one stream', [month('2026-10'), month('2026-10', { run_id: 'try', ...FEW })], ['2026-10 whole 2026-10']],
  [
    'a revision is the newest',
    [month('2026-10'), month('2026-10', { run_id: '2026-10.r2' })],
    ['2026-10 whole 2026-10.r2'],
  ],
  ['half of it', [between('2026-10-01', '2026-10-15')], ['2026-10 partial 2026-10-01..2026-10-15 2/2 some days']],
  [
    'two halves',
    [between('2026-10-15', '2026-11-01'), between('2026-10-01', '2026-10-15')],
    ['2026-10 whole 2026-10-15..2026-11-01'],
  ],
  [
    'two halves with a day between them',
    [between('2026-10-01', '2026-10-15'), between('2026-10-16', '2026-11-01')],
    ['2026-10 partial 2026-10-16..2026-11-01 2/2 some days'],
  ],
  [
    'two halves, one of them of one stream',
    [between('2026-10-01', '2026-10-15'), between('2026-10-15', '2026-11-01', FEW)],
    ['2026-10 partial 2026-10-01..2026-10-15 2/2 some days'],
  ],
  [
    'a shorter part that is newer',
    [between('2026-10-01', '2026-10-22'), between('2026-10-01', '2026-10-19')],
    ['2026-10 partial 2026-10-01..2026-10-22 2/2 some days'],
  ],
  [
    'all days of one stream, and half of them of all streams',
    [between('2026-10-01', '2026-10-15'), month('2026-10', FEW)],
    ['2026-10 partial 2026-10-01..2026-10-15 2/2 some days'],
  ],
  [
    'a quarter',
    [between('2026-07-01', '2026-10-01', { run_id: 'Q3' })],
    ['2026-07 whole Q3', '2026-08 whole Q3', '2026-09 whole Q3', '2026-10 none'],
  ],
  [
    'all time, until the middle of a month',
    [allTime('2026-10-15', '2026-09-30')],
    ['2026-09 whole all', '2026-10 partial all 2/2 some days'],
  ],
  ['all time without an entry', [allTime('2026-10-15', null)], ['2026-10 partial all 2/2 some days']],
  [
    'all time of entries whose year alone is known',
    [allTime('2026-11-05', '2026')],
    Array.from({ length: 10 }, (_, at) => `2026-${String(at + 1).padStart(2, '0')} whole all`),
  ],
  [
    'over the turn of a year',
    [month('2025-12'), month('2026-02')],
    [
      '2025-12 whole 2025-12',
      '2026-01 none',
      '2026-02 whole 2026-02',
      ...['03', '04', '05', '06', '07', '08', '09', '10'].map((number) => `2026-${number} none`),
    ],
  ],
])('%s', (_words, runs, said) => {
  const told = coverMonths(runs, NOW).map(({ month: name, state, run, streams, all_days }) => {
    const share = state === 'partial' ? ` ${streams?.whole}/${streams?.listed} ${all_days ? 'all' : 'some'} days` : '';
    return `${name} ${state}${run === null ? '' : ` ${run.run_id}`}${share}`;
  });
  expect(told).toEqual(said);
});

test('a month of the year 1 makes no calendar of all time', () => {
  expect(coverMonths([month('0001-01')], NOW)).toHaveLength(1200);
});

test('a month in words', () => {
  const runs = [
    month('2026-06'),
    month('2026-08', FEW),
    between('2026-09-03', '2026-09-10', { run_id: 'some', ...FEW }),
  ];
  expect(
    coverMonths(runs, new Date('2026-10-01T00:00:00Z')).map((covered) => describeMonth(toMonthReport(covered))),
  ).toEqual([
    '2026-06 is in run 2026-06',
    '2026-07 is in no finalized run',
    'of 2026-08 run 2026-08 has 1 of 29 streams',
    'of 2026-09 run some has 1 of 29 streams, some of its days',
  ]);
});

test.each([
  [`2026-10-01${DAY}`, `2026-11-01${DAY}`, { first: '2026-10', count: 1 }],
  [`2025-11-01${DAY}`, `2026-02-01${DAY}`, { first: '2025-11', count: 3 }],
  [`2026-10-02${DAY}`, `2026-11-01${DAY}`, null],
  [`2026-10-01${DAY}`, '2026-11-01T00:00:00.001Z', null],
  [null, `2026-11-01${DAY}`, null],
  [`2026-10-01${DAY}`, null, null],
])('whole months from %s to %s', (from, to, expected) => {
  expect(wholeMonths({ from, to })).toEqual(expected);
});
