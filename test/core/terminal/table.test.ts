import { describe, expect, test } from 'vitest';
import { fitTable, formatTable } from '../../../src/core/terminal/table.ts';
import { escapeControls } from '../../../src/core/terminal/visible.ts';

const one = (cell: string, max?: number) =>
  formatTable([{ title: 'x', ...(max === undefined ? {} : { max }) }, { title: '|' }], [[cell, '|']]).split('\n')[2] ??
  '';

const WIDTHS: [string, string, number][] = [
  ['ASCII', 'abc', 3],
  ['accents', 'äöü', 3],
  ['combining accents', 'a\u0308o\u0308', 2],
  ['East Asian', '日本', 4],
  ['Hangul', '한국', 4],
  ['half and full width', 'ｱＡ', 3],
  ['emoji', '\u{1f600}', 2],
  ['Arabic with marks', 'مَ', 1],
];

describe('columns stand below one another', () => {
  test.each(WIDTHS)('%s', (_words, text, columns) => {
    const [title, rule] = formatTable([{ title: '' }, { title: '|' }], [[text, '|']]).split('\n');
    expect(rule).toBe(`${'─'.repeat(columns)}  ─`);
    expect(title).toBe(`${' '.repeat(columns)}  |`);
    expect(one(text)).toBe(`${text}  |`);
  });

  test('to the left, to the right and in the middle', () => {
    const table = formatTable(
      [{ title: 'left' }, { title: 'right', align: 'right' }, { title: 'centre', align: 'centre' }],
      [
        ['a', 'b', 'c'],
        ['', '', ''],
        ['日', '日', '日'],
      ],
    );
    expect(table.split('\n')).toEqual([
      'left  right  centre',
      '────  ─────  ──────',
      'a         b    c',
      '',
      '日       日    日',
    ]);
  });

  test('a row that is short has empty cells', () => {
    expect(formatTable([{ title: 'a' }, { title: 'b' }], [['1']])).toBe('a  b\n─  ─\n1');
  });
});

const SHORTENED: [string, string, number, string][] = [
  ['as long as may be', 'abcdef', 6, 'abcdef'],
  ['one longer', 'abcdefg', 6, 'ab…fg'],
  ['much longer', 'a'.repeat(50) + 'b'.repeat(50), 9, 'aaaa…bbbb'],
  ['wide signs', '日本語日本語', 7, '日…語'],
  ['wide signs that do not fit evenly', 'a日本語b', 6, 'a…b'],
  ['emoji are not cut in two', '\u{1f600}\u{1f601}\u{1f602}\u{1f603}', 7, '\u{1f600}…\u{1f603}'],
  ['one column', 'abc', 1, '…'],
  ['two columns', 'abc', 2, '…'],
];

describe('cells that are too long', () => {
  test.each(SHORTENED)('%s', (_words, text, max, expected) => {
    expect(one(text, max)).toBe(`${expected}  |`);
  });
});

const SIGNS: [string, string, string][] = [
  ['an escape sequence', '\u001b[31mred', '\\u{1b}[31mred'],
  ['a line feed', 'a\nb', 'a\\u{a}b'],
  ['a carriage return', 'ok\rno', 'ok\\u{d}no'],
  ['a bell, a backspace', '\u0007\b', '\\u{7}\\u{8}'],
  ['C1 control characters', '\u009b31m', '\\u{9b}31m'],
  ['a change of direction', 'gpj.\u202eexe', 'gpj.\\u{202e}exe'],
  ['isolates', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
  ['a sign without width', 'a\u200bb', 'a\\u{200b}b'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['invisible tags', 'a\u{e0041}\u{e0000}', 'a\\u{e0041}\\u{e0000}'],
  ['marks of direction', '\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
  ['a paragraph separator', 'a\u2029b', 'a\\u{2029}b'],
  ['half a surrogate pair', 'a\ud800b', 'a\\u{d800}b'],
  ['fillers that look like nothing', 'a\u3164\u034fb', 'a\\u{3164}\\u{34f}b'],
  ['an emoji with its variation', '\u2764\ufe0f', '\u2764\ufe0f'],
  ['ordinary text', 'prod/ä 日本 \u{1f600}', 'prod/ä 日本 \u{1f600}'],
];

describe('text from outside does not steer the terminal', () => {
  test.each(SIGNS)('%s', (_words, text, expected) => {
    expect(escapeControls(text)).toBe(expected);
    expect(one(text)).toBe(`${expected}  |`);
  });
});

describe('a table in the room that there is', () => {
  const columns = [{ title: 'run' }, { title: 'streams', align: 'right' as const }, { title: 'remarks' }];
  const rows = [['r'.repeat(40), '12,345', `signed, ${'time-stamped, '.repeat(4)}held`]];
  const widest = (table: string) => Math.max(...table.split('\n').map((line) => line.length));

  test.each([120, 80, 60, 50])('is no wider than %d columns, and its numbers are whole', (room) => {
    const table = fitTable(columns, rows, room);
    expect(widest(table)).toBeLessThanOrEqual(room);
    expect(table).toMatch(/r+(…r+)? +12,345 +signed/);
  });

  test('is whole where there is room, and as small as can be read where there is none', () => {
    expect(fitTable(columns, rows, Number.POSITIVE_INFINITY)).toBe(formatTable(columns, rows));
    const least = fitTable(columns, rows, 10);
    expect(widest(least)).toBeLessThanOrEqual(12 + 2 + 7 + 2 + 12);
    expect(least).toBe(fitTable(columns, rows, 20));
  });
});
