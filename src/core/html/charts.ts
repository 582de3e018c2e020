import { grouped } from '../plurals.ts';
import { type Markup, markup, name } from './markup.ts';

/** Bars of a chart; they count entries. */
export interface Bars {
  title: string;
  /** `isRest`: sum of everything that has no bar; shown as a number without a bar, which would dwarf the others. */
  bars: { label: string; count: number; isRest?: true }[];
  /** Notes on everything that the bars leave out. */
  notes: string[];
}

/** Returns the count of the longest bar. */
export function longestOf({ bars }: Bars): number {
  return Math.max(...bars.map(({ count, isRest }) => (isRest === true ? 0 : count)), 1);
}

/** Describes the chart in words, for readers who cannot see it. */
export function describeBars({ title, bars }: Bars): string {
  const largest = bars.reduce((most, bar) => (bar.count > most.count ? bar : most), { label: '', count: 0 });
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  return `${title}: ${grouped(total)} in ${bars.length} bars; the most, ${grouped(largest.count)}, at ${largest.label}`;
}

const PLOT_HEIGHT = 100;
/** Share of a column that its bar fills. */
const COLUMN_SHARE = 0.8;

/**
 * Draws counts over time: one column per day, month or year. The image stretches to the available width, so its labels
 * are outside.
 */
export function columnChart(chart: Bars): Markup {
  const { title, bars: all, notes } = chart;
  const most = Math.max(...all.map(({ count }) => count), 1);
  const shapes = all.map(({ count }, index) => {
    // Keeps the smallest count visible.
    const height = count === 0 ? 0 : Math.max((count / most) * PLOT_HEIGHT, 1);
    const x = index + (1 - COLUMN_SHARE) / 2;
    return markup`<rect x="${rounded(x)}" y="${rounded(PLOT_HEIGHT - height)}" width="${COLUMN_SHARE}" height="${rounded(height)}"/>`;
  });
  return markup`<figure>
<figcaption>${title}</figcaption>
<div class="plot"><span class="top">${grouped(most)}</span><svg role="img" aria-label="${describeBars(chart)}" viewBox="0 0 ${all.length} ${PLOT_HEIGHT}" preserveAspectRatio="none">${shapes}</svg></div>
<p class="ends" aria-hidden="true"><span>${all[0]?.label ?? ''}</span><span>${all.at(-1)?.label ?? ''}</span></p>
${notes.map((note) => markup`<p class="minor">${note}</p>\n`)}${numbers(chart)}</figure>
`;
}

/** Draws counts by name: one bar per stream or action. */
export function barChart(chart: Bars): Markup {
  const { title, bars: all, notes } = chart;
  const most = longestOf(chart);
  return markup`<figure>
<figcaption>${title}</figcaption>
<table class="bars"><tbody>
${all.map(
  ({ label, count, isRest }) =>
    markup`<tr><th scope="row">${name(label)}</th><td>${isRest === true ? null : bar(count / most)}</td><td class="number">${grouped(count)}</td></tr>\n`,
)}</tbody></table>
${notes.map((note) => markup`<p class="minor">${note}</p>\n`)}</figure>
`;
}

/** @param share share of the longest bar. */
function bar(share: number): Markup {
  return markup`<svg aria-hidden="true" height="10" width="100%"><rect width="${rounded(Math.max(share * 100, 0.5))}%" height="10" rx="1"/></svg>`;
}

function numbers({ title, bars: all }: Bars): Markup {
  return markup`<details class="numbers"><summary>As numbers</summary><ul aria-label="${title}">${all.map(
    ({ label, count }) => markup`<li>${label} <b>${grouped(count)}</b></li>`,
  )}</ul></details>
`;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
