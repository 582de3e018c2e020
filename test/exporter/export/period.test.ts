import { describe, expect, test } from 'vitest';
import { type PeriodQuestion, resolvePeriod } from '../../../src/exporter/export/period.ts';
import { thrownBy } from '../../support/json.ts';

const NOW = new Date('2026-11-21T03:04:05.678Z');
const AFTER = new Date('2030-01-01T00:00:00Z');
const resolve = (question: PeriodQuestion, now = NOW) => resolvePeriod(question, now);

const MONTHS: [string, string, string][] = [
  ['2026-10', '2026-10-01', '2026-11-01'],
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2027-01', '2027-01-01', '2027-02-01'],
  ['2028-02', '2028-02-01', '2028-03-01'],
  ['0050-01', '0050-01-01', '0050-02-01'],
];

test.each(MONTHS)('the month %s', (month, from, to) => {
  expect(resolve({ month }, AFTER)).toEqual({
    runId: month,
    period: { from: `${from}T00:00:00.000Z`, to: `${to}T00:00:00.000Z` },
    series: null,
  });
});

const LAST: [string, string][] = [
  ['2026-11-21T03:04:05.678Z', '2026-10'],
  ['2026-12-01T00:00:00.000Z', '2026-11'],
  ['2026-11-30T23:59:59.999Z', '2026-10'],
  ['2027-01-01T00:00:00.000Z', '2026-12'],
  ['2027-01-31T12:00:00.000Z', '2026-12'],
  ['2027-03-31T12:00:00.000Z', '2027-02'],
  ['2027-01-01T00:30:00+01:00', '2026-11'],
];

test.each(LAST)('at %s the last whole month is %s', (now, month) => {
  expect(resolve({}, new Date(now))).toEqual(resolve({ month }, new Date(now)));
});

const DAY = 'T00:00:00.000Z';
const RANGES: [string | undefined, string | undefined, string | null, string | null, string][] = [
  ['2026-10-01', '2026-10-15', `2026-10-01${DAY}`, `2026-10-15${DAY}`, '2026-10-01_2026-10-15'],
  ['2026-10-01', undefined, `2026-10-01${DAY}`, null, '2026-10-01_now-2030-01-01'],
  [undefined, '2026-10-01', null, `2026-10-01${DAY}`, 'start_2026-10-01'],
  ['2026-10-01T12:30Z', '2026-10-02', '2026-10-01T12:30:00.000Z', `2026-10-02${DAY}`, '2026-10-01T123000Z_2026-10-02'],
  [
    '2026-10-01T00:00:00+02:00',
    '2026-10-02T00:00:00-05:30',
    '2026-09-30T22:00:00.000Z',
    '2026-10-02T05:30:00.000Z',
    '2026-09-30T220000Z_2026-10-02T053000Z',
  ],
  [
    '2026-10-01T00:00:00.250Z',
    '2026-10-01T00:00:01Z',
    '2026-10-01T00:00:00.250Z',
    '2026-10-01T00:00:01.000Z',
    '2026-10-01T000000.250Z_2026-10-01T000001Z',
  ],
  ['2028-02-29', '2028-03-01', `2028-02-29${DAY}`, `2028-03-01${DAY}`, '2028-02-29_2028-03-01'],
];

test.each(RANGES)('from %s to %s', (from, to, start, end, runId) => {
  const answer = resolve({ from, to }, AFTER);
  expect(answer).toMatchObject({ runId, period: { from: start, to: end } });
  // The id has no colon and no space, because it becomes a folder name.
  expect(answer.runId).toMatch(/^[A-Za-z0-9._-]+$/);
});

test('all time is named by the day, and reaches now', () => {
  expect(resolve({ allTime: true })).toEqual({
    runId: 'all-time-2026-11-21',
    period: { from: null, to: null },
    series: { prefix: 'all-time-', suffix: '' },
  });
  expect(resolve({ allTime: false })).toEqual(resolve({}));
});

const FILTERS: [streams: string[], exclude: string[], suffix: RegExp][] = [
  [['auth'], [], /^_auth-[0-9a-f]{8}$/],
  [['prod/*'], ['*/debug'], /^_prod-without-debug-[0-9a-f]{8}$/],
  [[], ['auth'], /^_without-auth-[0-9a-f]{8}$/],
  [['../..', '支付'], [], /^_[a-z0-9.-]*-?[0-9a-f]{8}$/],
];

test.each(FILTERS)('a run of %j without %j has a name of its own, whatever the order', (streams, exclude, suffix) => {
  for (const question of [{ month: '2026-10' }, { allTime: true }, { from: '2026-10-01' }]) {
    const { runId } = resolve(question);
    const named = resolve({ ...question, streams, exclude });
    expect(named.runId.slice(0, runId.length)).toBe(runId);
    expect(named.runId.slice(runId.length)).toMatch(suffix);
    expect(named.runId).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
    expect(resolve({ ...question, streams: streams.toReversed(), exclude }).runId).toBe(named.runId);
    expect(resolve({ ...question, streams, exclude, request: 'R' }).runId).toBe('R');
  }
});

test('other streams, another name', () => {
  const name = (streams: string[], exclude: string[] = []) => resolve({ month: '2026-10', streams, exclude }).runId;
  expect(new Set([name(['a']), name(['b']), name(['A']), name(['a', 'b']), name([], ['a']), name([])]).size).toBe(6);
});

const REQUESTS = ['AUD-2026-014', 'a', '7', 'a.b_c-d', 'x'.repeat(80)];

test.each(REQUESTS)('the request %s names the run, whatever the period', (request) => {
  for (const question of [{}, { month: '2026-10' }, { allTime: true }, { from: '2026-10-01' }])
    expect(resolve({ ...question, request })).toEqual({ ...resolve(question), runId: request, series: null });
});

const CONTRADICTIONS: PeriodQuestion[] = [
  { month: '2026-10', from: '2026-10-01' },
  { month: '2026-10', to: '2026-10-01' },
  { month: '2026-10', allTime: true },
  { from: '2026-10-01', allTime: true },
  { month: '2026-10', from: '2026-10-01', allTime: true, request: 'r' },
];

test.each(CONTRADICTIONS)('%j contradicts itself', (question) => {
  expect(thrownBy(() => resolve(question))).toMatchObject({
    code: 'usage',
    message: expect.stringContaining('cannot be combined'),
  });
});

const BAD_MONTHS = [
  '2026-13',
  '2026-00',
  '2026-1',
  '26-10',
  '2026-10-01',
  '2026/10',
  'october',
  '',
  ' 2026-10',
  '2026-10\n',
];
const BAD_TIMES = [
  '2026-04-31',
  '2027-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-10-00',
  '2026-04-31T00:00:00Z',
  '2027-02-29T12:00:00+01:00',
  '2026-10-01T24:00:00Z',
  '2026-10-01T12:60:00Z',
  '2026-10-01T12:00:61Z',
  '2026-10-01T12:00:00',
  '2026-10-01T12:00:00+25:00',
  '2026-10-01 12:00:00Z',
  '2026-10-01t12:00:00z',
  '2026-10',
  '2026-W40',
  '20261001',
  '1790000000',
  'yesterday',
  '',
  '2026-10-01\n',
];
const BAD_REQUESTS = ['', '.', '..', '.hidden', '-x', '_x', 'a/b', 'a\\b', 'a b', 'ü', 'a\n', 'x'.repeat(81), '%2e'];

describe('refused, naming the flag', () => {
  test.each(BAD_MONTHS)('--period %j', (month) => {
    expect(thrownBy(() => resolve({ month }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--period'),
    });
  });

  test.each(BAD_TIMES)('--from and --to %j', (time) => {
    expect(thrownBy(() => resolve({ from: time }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--from'),
    });
    expect(thrownBy(() => resolve({ to: time }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--to'),
    });
  });

  test.each(BAD_REQUESTS)('--request %j', (request) => {
    expect(thrownBy(() => resolve({ request }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--request'),
    });
  });

  test.each<[PeriodQuestion, string, RegExp]>([
    [{ month: '2026-11' }, '2026-11-30T23:59:59.999Z', /with --from 2026-11-01T00:00:00.000Z alone/],
    [{ month: '2026-12' }, '2026-11-21T03:04:05.678Z', /^Wait until it ends\.$/],
    [{ to: '2026-12-31', request: 'AUD-1' }, '2026-11-21T03:04:05.678Z', /with --all-time/],
  ])('a period that has not ended: %j at %s', (question, now, words) => {
    expect(thrownBy(() => resolve(question, new Date(now)))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('in the future'),
      nextStep: expect.stringMatching(words),
    });
  });

  test('but not one that has just ended', () => {
    expect(resolve({ month: '2026-11' }, new Date('2026-12-01T00:00:00.000Z')).runId).toBe('2026-11');
  });

  test.each([
    ['2026-10-02', '2026-10-01'],
    ['2026-10-01', '2026-10-01'],
    ['2026-10-01T01:00:00+01:00', '2026-10-01T00:00:00Z'],
  ])('from %s to %s, which is not before it', (from, to) => {
    expect(thrownBy(() => resolve({ from, to }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('not before'),
    });
  });
});
