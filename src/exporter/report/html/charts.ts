import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/words.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { type Bars, describeBars, longestOf } from '../view/activity.ts';
import type { Coverage } from '../view/coverage.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

const PLOT_HEIGHT = 100;
/** Of what each column has for itself. */
const COLUMN_SHARE = 0.8;

export function activity({ charts }: RunView): Markup | null {
  const { activity: times, streams, actions, notes } = charts;
  if (times === null && streams === null) return null;
  return markup`${times === null ? null : columns(times)}${streams === null ? null : bars(streams)}${
    actions === null ? null : bars(actions)
  }${notes.map((note) => markup`<p class="minor">${note}</p>\n`)}`;
}

/** Over time: one column a day, month or year. Stretched to whatever width there is, so that its words are beside it. */
function columns(chart: Bars): Markup {
  const { title, bars: all, notes } = chart;
  const most = Math.max(...all.map(({ count }) => count), 1);
  const shapes = all.map(({ count }, index) => {
    // The smallest count is seen too.
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

/** By name: one bar a stream or an action. */
function bars(chart: Bars): Markup {
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

/** @param share of the longest. */
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

const MARKS = { verified: '✓', collected: '•', refuted: '✗', incomplete: '!', empty: '–' } as const;

export function coverage({ coverage: { months, runs, quiet } }: RunView, texts: Texts): Markup {
  return markup`<p>${texts.coverage.introduction}</p>
<ol class="months">
${months.map(month)}</ol>
${quiet.map((line) => markup`<p>${line}</p>\n`)}<div class="wide" tabindex="0" role="group" aria-labelledby="coverage-title"><table class="fits">
<thead><tr><th scope="col">Run</th><th scope="col">Period (UTC)</th><th scope="col">Outcome</th><th scope="col" class="number">Streams</th><th scope="col" class="number">Entries</th></tr></thead>
<tbody>
${runs.map(
  ({ run_id, period, until, outcome, streams, entries }) =>
    markup`<tr><th scope="row">${name(run_id)}</th><td>${describePeriod(period, until)}</td><td class="status ${outcome}">${outcome}</td><td class="number">${grouped(streams)}</td><td class="number">${grouped(entries)}</td></tr>\n`,
)}</tbody></table></div>
`;
}

function month({ month: label, outcome, state, note }: Coverage['months'][number]): Markup {
  if (outcome === null) return markup`<li class="gap"><span>${label}</span> <b>no run</b></li>\n`;
  const tone = state === 'partial' && outcome !== 'refuted' ? 'incomplete' : outcome;
  if (note !== null)
    return markup`<li class="${tone}"><span>${label}</span> <b>${note}</b> <span class="word">${outcome}</span></li>\n`;
  return markup`<li class="${tone}"><span>${label}</span> <b><span aria-hidden="true">${MARKS[outcome]}</span> <span class="word">${outcome}</span></b></li>\n`;
}
