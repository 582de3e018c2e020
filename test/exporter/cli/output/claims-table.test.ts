import { describe, expect, test } from 'vitest';
import { formatClaims, formatLegend } from '../../../../src/exporter/cli/output/streams-table.ts';
import { CLAIMS } from '../../../../src/verifier/claims/claim.ts';
import { runStream } from '../../../support/records.ts';

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
    '– seal: and 2 more reasons',
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
