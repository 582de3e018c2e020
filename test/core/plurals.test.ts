import { expect, test } from 'vitest';
import { plural, roughly } from '../../src/core/plurals.ts';

test.each([
  [0, 'stream', '0 streams'],
  [1, 'entry', '1 entry'],
  [2, 'entry', '2 entries'],
  [999, 'stream', '999 streams'],
  [1000, 'stream', '1,000 streams'],
  [1_234_567, 'stream', '1,234,567 streams'],
])('%i × %s is %s', (count, thing, words) => {
  expect(plural(count, thing)).toBe(words);
});

test.each([
  [1, '1 second'],
  [119, '119 seconds'],
  [120, '2 minutes'],
  [7199, '120 minutes'],
  [7200, '2 hours'],
  [31_237_686, '362 days'],
])('%i s is roughly %s', (seconds, words) => {
  expect(roughly(seconds)).toBe(words);
});
