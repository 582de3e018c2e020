import { expect, test } from 'vitest';
import { describeScores, type ScoreHistory, scoreChart } from '../../../../src/platform/agents/pages/score-chart.ts';

const HISTORY: ScoreHistory = {
  lines: [
    { at: '2026-11-01T00:00:00.000Z', before: 0, after: 50, ceiling: 60 },
    { at: '2026-11-02T00:00:00.000Z', before: 50, after: 60, ceiling: 60 },
    { at: '2026-11-04T00:00:00.000Z', before: 60, after: 0, ceiling: 100 },
  ],
  until: '2026-11-05T00:00:00.000Z',
};
const drawn = (history: ScoreHistory) => [...(scoreChart(history)?.write() ?? [])].join('');

test('a score is drawn as steps over time, below what it could be at most', () => {
  const svg = drawn(HISTORY);
  expect(svg).toContain('class="line" d="M0 50.5H250V40.5H750V100.5H1000"');
  expect(svg).toContain('class="ceiling" d="M0 40.5H250V40.5H750V0.5H1000"');
});

test('each line has a mark, and another one where the score fell', () => {
  const marks = [...drawn(HISTORY).matchAll(/class="(dot|fell)" d="([^"]*)"/g)].map(([, kind, at]) => [kind, at]);
  expect(marks).toEqual([
    ['dot', 'M0 50.5h0'],
    ['dot', 'M250 40.5h0'],
    ['fell', 'M750 100.5h0'],
  ]);
});

test('the bands of the tiers end between the scores at which they meet', () => {
  const bands = [...drawn(HISTORY).matchAll(/class="band [^"]*" x="0" y="(\d+)" width="1000" height="(\d+)"/g)];
  expect(bands.map(([, y, height]) => [Number(y), Number(height)])).toEqual([
    [0, 20],
    [20, 20],
    [40, 20],
    [60, 20],
    [80, 21],
  ]);
});

test('who does not see it hears where it began, where it stands, and how far it went', () => {
  expect(describeScores(HISTORY)).toBe(
    'Score from 2026-11-01 00:00 UTC to 2026-11-05 00:00 UTC, in 3 steps: 50 at first, 0 at last, which is AUTO-SUSPENDED; the lowest 0, the highest 60',
  );
  expect(scoreChart({ lines: [], until: HISTORY.until })).toBeNull();
});

test('lines of one moment are drawn, too', () => {
  const at = '2026-11-01T00:00:00.000Z';
  const lines = [0, 50].map((before) => ({ at, before, after: before + 10, ceiling: 100 }));
  expect(drawn({ lines, until: at })).toContain('class="line" d="M0 90.5H0V40.5H1000"');
});
