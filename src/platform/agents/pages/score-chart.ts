import { type Markup, markup } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { TIERS, tierOf } from '../enums.ts';
import type { WireTrustLine } from '../wire/trust.ts';

/** History to draw: lines of the ledger, oldest first, and the time until which the last one holds. */
export interface ScoreHistory {
  lines: readonly Pick<WireTrustLine, 'at' | 'before' | 'after' | 'ceiling'>[];
  /** RFC 3339 UTC time, not before the last line. */
  until: string;
}

const WIDTH = 1000;
/** Height of the chart, one more than the range of scores, so that 0 and 100 are inside the frame. */
const HEIGHT = 101;
const LAST = 100.5;

/**
 * Draws a score over time as steps in the bands of the tiers, with the ceiling above it. The chart stretches to the
 * available width, so its labels are beside it. Returns null if there is no line.
 */
export function scoreChart(history: ScoreHistory): Markup | null {
  const { lines, until } = history;
  const [first] = lines;
  if (first === undefined) return null;
  const bands = TIERS.map(
    ({ tier }, index) =>
      markup`<rect class="band tier-${index}" x="0" y="${index * 20}" width="${WIDTH}" height="${bandHeight(tier)}"/>`,
  );
  return markup`<figure class="score">
<figcaption>Score over time</figcaption>
<div class="scored"><div class="tiers-of" aria-hidden="true">${TIERS.map(({ tier, from }) => markup`<span>${tier} <span class="minor">from ${from}</span></span>`)}</div>
<svg role="img" aria-label="${describeScores(history)}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">${bands}<path class="ceiling" d="${steps(history, ({ ceiling }) => ceiling)}"/><path class="line" d="${steps(history, ({ after }) => after)}"/>${dots(history)}</svg>
<p class="ends" aria-hidden="true"><span>${shortTime(first.at)}</span><span>${shortTime(until)}</span></p></div>
<p class="minor">The line is the score, and the dashed line is its maximum. Each dot is a line of the table; a square marks a fall.</p>
</figure>
`;
}

function bandHeight(tier: string): number {
  return tier === 'AUTO-SUSPENDED' ? 21 : 20;
}

/** Describes the chart for screen readers. */
export function describeScores({ lines, until }: ScoreHistory): string {
  const scores = lines.map(({ after }) => after);
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return 'No score';
  const { tier, score } = { tier: tierOf(last.after), score: last.after };
  return `Score from ${shortTime(first.at)} to ${shortTime(until)}, in ${plural(lines.length, 'step')}: ${first.after} at first, ${score} at last, which is ${tier}; the lowest ${Math.min(...scores)}, the highest ${Math.max(...scores)}`;
}

type Line = ScoreHistory['lines'][number];

/** Returns the steps as a path of horizontal and vertical strokes. */
function steps(history: ScoreHistory, scoreOf: (line: Line) => number): string {
  const { lines } = history;
  const toX = xOf(history);
  const parts = lines.map((line, index) => {
    const y = rounded(LAST - scoreOf(line));
    return index === 0 ? `M0 ${y}` : `H${toX(line.at)}V${y}`;
  });
  return `${parts.join('')}H${WIDTH}`;
}

/** Draws strokes of zero length, which keep their form when the chart is stretched. */
function dots(history: ScoreHistory): Markup[] {
  const toX = xOf(history);
  return history.lines.map(
    ({ at, before, after }) =>
      markup`<path class="${after < before ? 'fell' : 'dot'}" d="M${toX(at)} ${rounded(LAST - after)}h0"/>`,
  );
}

function xOf({ lines, until }: ScoreHistory): (at: string) => number {
  const from = Date.parse(lines[0]?.at ?? until);
  const length = Math.max(Date.parse(until) - from, 1);
  return (at) => rounded(((Date.parse(at) - from) / length) * WIDTH);
}

function shortTime(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
