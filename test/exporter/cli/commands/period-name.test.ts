import { expect, test } from 'vitest';
import { nameOfPeriod } from '../../../../src/exporter/cli/commands/runs.ts';

const DAY = 'T00:00:00.000Z';
const BEGUN = '2026-11-21T03:04:05.678Z';

test.each<[from: string | null, to: string | null, name: string]>([
  [`2026-10-01${DAY}`, `2026-11-01${DAY}`, '2026-10'],
  [`2026-12-01${DAY}`, `2027-01-01${DAY}`, '2026-12'],
  [`2026-07-01${DAY}`, `2026-10-01${DAY}`, '2026-Q3'],
  [`2026-10-01${DAY}`, `2027-01-01${DAY}`, '2026-Q4'],
  [`2026-08-01${DAY}`, `2026-11-01${DAY}`, '2026-08 to 2026-10'],
  [`2026-01-01${DAY}`, `2027-01-01${DAY}`, '2026'],
  [`2025-07-01${DAY}`, `2026-07-01${DAY}`, '2025-07 to 2026-06'],
  [`2026-10-01${DAY}`, `2026-10-15${DAY}`, '2026-10-01 to 2026-10-14'],
  [`2026-10-01${DAY}`, `2026-10-02${DAY}`, '2026-10-01 to 2026-10-01'],
  ['2026-10-01T12:30:00.000Z', '2026-10-02T00:00:00.250Z', '2026-10-01T12:30:00Z to before 2026-10-02T00:00:00.250Z'],
  [null, `2026-10-01${DAY}`, 'until 2026-09-30'],
  [`2026-10-01${DAY}`, null, '2026-10-01 until 2026-11-21T03:04:05Z'],
  [null, null, 'all time until 2026-11-21T03:04:05Z'],
])('from %s to %s', (from, to, name) => {
  expect(nameOfPeriod({ from, to }, BEGUN)).toBe(name);
});
