import { describe, expect, test } from 'vitest';
import { formatClaims, formatLegend, formatTable } from '../../../src/core/terminal/table.ts';
import { visible } from '../../../src/core/terminal/visible.ts';
import { plural } from '../../../src/exporter/report/view/words.ts';
import { CLAIMS } from '../../../src/verifier/claims/claim.ts';
import { runStream } from '../../support/records.ts';

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
    expect(visible(text)).toBe(expected);
    expect(one(text)).toBe(`${expected}  |`);
  });
});

test('the table of claims', () => {
  const rows = [
    { ...runStream('a', { entries: 12345 }, { seal: 'unproved' }) },
    { ...runStream('b\u001b', { status: 'refuted' }, { order: 'refuted' }) },
  ];
  const [titles, , first, second] = formatClaims(rows).split('\n');
  expect(titles?.split(/\s+/)).toEqual([
    'stream',
    'entries',
    'order',
    'content',
    'seal',
    'anchor',
    'continuity',
    'completeness',
    'agreement',
    'status',
  ]);
  expect(first?.split(/\s+/)).toEqual(['a', '12,345', '✓', '✓', '–', '✓', '✓', '✓', '✓', 'verified']);
  expect(second?.split(/\s+/)).toEqual(['b\\u{1b}', '10', '✗', '✓', '✓', '✓', '✓', '✓', '✓', 'refuted']);
});

describe('the table of claims on a terminal', () => {
  const rows = [runStream('a'.repeat(30), { entries: 12345 }, { seal: 'unproved' }), runStream('日'.repeat(30))];
  const widest = (text: string) =>
    Math.max(...text.split('\n').map((line) => line.length + (line.match(/日/g)?.length ?? 0)));

  test.each([-1, 0, 1])('wider by %d columns than it shows it as elsewhere if it fits', (more) => {
    const whole = formatClaims(rows, Number.POSITIVE_INFINITY);
    expect(formatClaims(rows, widest(whole) + more) === whole).toBe(more >= 0);
  });

  test.each([112, 80, 74])(
    'of %d columns has a row for a stream, of its marks in the order that it says',
    (columns) => {
      const table = formatClaims(rows, columns);
      expect(widest(table)).toBeLessThanOrEqual(columns);
      const lines = table.split('\n');
      expect(lines).toHaveLength(6);
      expect(lines[2]).toMatch(/^a+…?a* +12,345 {2}✓ ✓ – ✓ ✓ ✓ ✓ {2}verified$/);
      expect(lines[5]).toBe(`claims: ${CLAIMS.join(', ')}`);
    },
  );
});

test('the legend gives each reason once, and how many streams it holds for', () => {
  const because = (reason: string) => {
    const stream = runStream('s');
    return { ...stream, claims: { ...stream.claims, seal: { state: 'unproved' as const, reason } } };
  };
  const rows = [
    because('no key'),
    because('no key'),
    ...[1, 2, 3, 4, 5, 6].map((number) => because(`\u001b${number}`)),
  ];
  expect(formatLegend(rows).split('\n')).toEqual([
    '✓ proved   ✗ refuted   – unproved',
    '– seal: no key (2 streams)',
    ...[1, 2, 3, 4].map((number) => `– seal: \\u{1b}${number} (1 stream)`),
    '– seal: and 2 other reasons',
  ]);
});

test('the legend says where a proof ends', () => {
  const content = { state: 'proved' as const, basis: 'b', not_covered: ['note', 'a\u{7f}b'] };
  const { claims, ...stream } = runStream('s');
  expect(formatLegend([{ ...stream, claims: { ...claims, content } }])).toContain(
    '\n✓ content: digests do not cover note, a\\u{7f}b (1 stream)',
  );
});

test('the legend says how many entries no time-stamp covers, and where', () => {
  const upTo = (name: string, through: number, after: number) => {
    const { claims, ...stream } = runStream(name);
    const anchor = { state: 'proved' as const, anchored_through: through, entries_after_last_anchor: after };
    return { ...stream, claims: { ...claims, anchor } };
  };
  const said = (...rows: ReturnType<typeof upTo>[]) => formatLegend(rows).split('\n').slice(1);
  expect(said(upTo('a', 10, 0))).toEqual([]);
  expect(said(upTo('a', 10, 0), upTo('b\u001b', 3, 1200), upTo('c', 9, 1))).toEqual([
    '✓ anchor: time-stamps do not cover 1,201 entries in 2 streams: 1,200 in b\\u{1b}, after entry 3; 1 in c, after entry 9',
  ]);
});

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
