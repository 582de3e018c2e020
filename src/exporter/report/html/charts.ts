import { barChart, columnChart } from '../../../core/html/charts.ts';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import type { Coverage } from '../view/coverage.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

export function activity({ charts }: RunView): Markup | null {
  const { activity: times, streams, actions, notes } = charts;
  if (times === null && streams === null) return null;
  return markup`${times === null ? null : columnChart(times)}${streams === null ? null : barChart(streams)}${
    actions === null ? null : barChart(actions)
  }${notes.map((note) => markup`<p class="minor">${note}</p>\n`)}`;
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
