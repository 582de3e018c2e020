import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ActivityCount } from '../../../src/verifier/chain/activity.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const at = (milliseconds: number) => new Date(START + milliseconds).toISOString();

function count(timestamps: readonly string[]) {
  const activity = new ActivityCount();
  for (const timestamp of timestamps) activity.add(Date.parse(timestamp));
  return activity.finish();
}

test('counts by day in UTC, whatever the order and the zone', () => {
  expect(count(['2026-10-02T00:30:00+01:00', '2026-10-02T00:00:00Z', '2026-10-01T12:00:00.000Z'])).toEqual({
    per: 'day',
    counts: { '2026-10-01': 2, '2026-10-02': 1 },
    undated: 0,
  });
});

test('what has no time that can be read is counted apart', () => {
  const days = ['2026-10-01T00:00:00Z', '', 'yesterday', '+012026-10-01T00:00:00Z', '2026-10-01T00:00:00Z'];
  expect(count(days)).toMatchObject({
    counts: { '2026-10-01': 2 },
    undated: 3,
  });
});

test.each([
  ['a quarter', 92, 'day', 92],
  ['a year', 365, 'month', 12],
  ['twenty years', 7305, 'year', 20],
])('%s is counted in bounded memory', (_what, days, per, keys) => {
  const activity = count(Array.from({ length: days }, (_, day) => at(day * DAY)));
  expect(activity.per).toBe(per);
  expect(Object.keys(activity.counts)).toHaveLength(keys);
  expect(Object.values(activity.counts).reduce((sum, entries) => sum + entries)).toBe(days);
});

test('entries in order are counted as they would be one by one', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(8 * DAY), { minLength: 1, maxLength: 60 }), (steps) => {
      let time = 0;
      const timestamps = steps.map((step) => {
        time += step;
        return at(time);
      });
      const many = new ActivityCount();
      many.addOrdered(timestamps.length, (index) => Date.parse(timestamps[index] ?? ''));
      expect(many.finish()).toEqual(count(timestamps));
    }),
  );
});
