import { expect, test } from 'vitest';
import { Printer } from '../../../../src/core/terminal/printer.ts';
import { printStreamsTable } from '../../../../src/exporter/cli/output/streams-table.ts';
import { runStream } from '../../../support/records.ts';

function tableOf(statuses: readonly string[], verbose = false): string {
  let text = '';
  const printer = new Printer({ json: false, quiet: false, verbose, stdout: { write: (more) => (text += more) } });
  const rows = statuses.map((status, index) => ({ ...runStream(`stream-${index}`), status }));
  printStreamsTable(rows, printer);
  return text;
}

const rowsIn = (text: string) => text.match(/^stream-\d+ /gm)?.length ?? 0;
const many = (count: number, status = 'verified') => Array.from({ length: count }, () => status);

test.each<[words: string, statuses: string[], verbose: boolean, rows: number, says: string | null]>([
  ['a few', many(24), false, 24, null],
  ['many that are well', many(300), false, 0, '300 streams: 300 verified. --verbose lists all.'],
  ['all that are well, if they are asked for', many(300), true, 300, null],
  [
    'one of many that is not',
    ['refuted', ...many(100), 'empty'],
    false,
    1,
    '101 more streams: 100 verified, 1 empty. --verbose lists all.',
  ],
  [
    'more that are not than can be read',
    many(90, 'incomplete'),
    false,
    50,
    '40 more streams: 40 incomplete. --verbose lists all.',
  ],
])('of streams the table has %s', (_words, statuses, verbose, rows, says) => {
  const text = tableOf(statuses, verbose);
  expect(rowsIn(text)).toBe(rows);
  if (says === null) expect(text).not.toContain('--verbose');
  else expect(text).toContain(says);
  expect(text).toContain('✓ proved   ✗ refuted');
});
