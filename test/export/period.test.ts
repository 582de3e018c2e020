import { describe, expect, test } from 'vitest';
import { type PeriodQuestion, resolvePeriod } from '../../src/export/period.ts';

const NOW = new Date('2026-11-21T10:20:30.456Z');

describe('the period of an export', () => {
  test.each<[PeriodQuestion, string, string | null, string | null, boolean]>([
    [{}, '2026-10', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z', false],
    [{ month: '2026-12' }, '2026-12', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z', false],
    [{ month: '2024-02' }, '2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z', false],
    [{ allTime: true }, 'all-time-2026-11-21', null, null, true],
    [
      { from: '2026-01-01', to: '2026-07-01' },
      '2026-01-01_2026-07-01',
      '2026-01-01T00:00:00.000Z',
      '2026-07-01T00:00:00.000Z',
      false,
    ],
    [{ from: '2026-01-01' }, '2026-01-01_now', '2026-01-01T00:00:00.000Z', null, true],
    [{ to: '2026-01-01' }, 'start_2026-01-01', null, '2026-01-01T00:00:00.000Z', false],
    [
      { request: 'AUD-2026-014', month: '2026-09' },
      'AUD-2026-014',
      '2026-09-01T00:00:00.000Z',
      '2026-10-01T00:00:00.000Z',
      false,
    ],
    [{ request: 'AUD-1', allTime: true }, 'AUD-1', null, null, true],
  ])('%j', (question, runId, from, to, reachesNow) => {
    expect(resolvePeriod(question, NOW)).toEqual({ runId, period: { from, to }, reachesNow });
  });

  test('in January the last whole month is that of the year before', () => {
    expect(resolvePeriod({}, new Date('2027-01-01T00:00:00.000Z')).runId).toBe('2026-12');
  });

  test('a zone is turned into UTC', () => {
    expect(resolvePeriod({ from: '2026-03-01T00:30:00+02:00' }, NOW).period.from).toBe('2026-02-28T22:30:00.000Z');
  });

  test('the id of a run is a name on every disk', () => {
    expect(resolvePeriod({ from: '2026-03-01T00:30:00.250Z', to: '2026-04-01' }, NOW).runId).toMatch(
      /^[A-Za-z0-9._-]+$/,
    );
  });

  test.each<[PeriodQuestion]>([
    [{ month: '2026-13' }],
    [{ month: 'October' }],
    [{ month: '2026-1' }],
    [{ month: '2026-10', allTime: true }],
    [{ from: '2026-01-01', allTime: true }],
    [{ from: '2026-02-30' }],
    [{ from: '2026-02-01T00:00:00' }],
    [{ from: '2026-02-02', to: '2026-02-02' }],
    [{ from: '2026-03-01', to: '2026-02-01' }],
    [{ to: 'yesterday' }],
    [{ request: '../x' }],
    [{ request: '' }],
    [{ request: 'a b' }],
  ])('%j makes no sense', (question) => {
    expect(() => resolvePeriod(question, NOW)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});
