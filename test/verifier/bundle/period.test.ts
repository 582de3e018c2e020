import { expect, test } from 'vitest';
import { describePeriod } from '../../../src/verifier/bundle/period.ts';

const DAY = 'T00:00:00.000Z';
const UNTIL = '2026-11-21T22:54:01.500Z';

test.each<[from: string | null, to: string | null, until: string | null, words: string]>([
  [`2026-10-01${DAY}`, `2026-11-01${DAY}`, null, 'October 2026 (1–31 October 2026, UTC)'],
  [`2024-02-01${DAY}`, `2024-03-01${DAY}`, null, 'February 2024 (1–29 February 2024, UTC)'],
  [`2026-07-01${DAY}`, `2026-10-01${DAY}`, null, 'July to September 2026 (1 July – 30 September 2026, UTC)'],
  [
    `2025-12-01${DAY}`,
    `2026-02-01${DAY}`,
    null,
    'December 2025 to January 2026 (1 December 2025 – 31 January 2026, UTC)',
  ],
  [`2026-01-01${DAY}`, `2027-01-01${DAY}`, null, '2026 (1 January – 31 December 2026, UTC)'],
  [`2026-10-05${DAY}`, `2026-10-10${DAY}`, null, '5–9 October 2026 (UTC)'],
  [`2026-10-05${DAY}`, `2026-10-06${DAY}`, null, '5 October 2026 (UTC)'],
  ['2026-10-05T06:00:00.000Z', `2026-10-06${DAY}`, null, 'from 5 October 2026 06:00:00 to before 6 October 2026 (UTC)'],
  [null, null, UNTIL, 'everything up to the export of 21 November 2026, 22:54 (UTC)'],
  [null, null, null, 'everything up to the time of the export (UTC)'],
  [null, `2026-10-06${DAY}`, null, 'everything before 6 October 2026 (UTC)'],
  [`2026-10-05${DAY}`, null, UNTIL, 'from 5 October 2026 up to the export of 21 November 2026, 22:54 (UTC)'],
])('%s to %s, asked for at %s', (from, to, until, words) => {
  expect(describePeriod({ from, to }, until)).toBe(words);
});
