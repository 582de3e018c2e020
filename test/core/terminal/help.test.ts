import { expect, test } from 'vitest';
import { reflow } from '../../../src/core/terminal/help.ts';

test('lines of a help are broken between words, after what they explain', () => {
  const help =
    'evidence export\n\n  -v, --verbose  every request and every retry that there is  [boolean]\n      --json     short';
  expect(reflow(help, 40).split('\n')).toEqual([
    'evidence export',
    '',
    '  -v, --verbose  every request and every',
    '                 retry that there is',
    '                 [boolean]',
    '      --json     short',
  ]);
  expect(reflow(help, 100)).toBe(help);
});
