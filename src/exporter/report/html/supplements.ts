import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import type { KindRow, SupplementRemark, SupplementsView } from '../view/supplements.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

/** Renders the records of other services, and how far the evidence proves them. */
export function supplements({ proof: { supplements: view } }: RunView, { supplements: texts }: Texts): Markup | null {
  if (view === null) return null;
  return markup`<p>${view.introduction}</p>
${view.missing.map((one) => missing(one, texts))}${view.kinds.length === 0 ? null : table(view.kinds)}${
  view.findings.length === 0 && view.kinds.length > 0 ? markup`<p>${texts.none}</p>\n` : null
}${view.findings.length === 0 ? null : remarks(view)}${view.sources.map((line) => markup`<p class="minor">${line}</p>\n`)}`;
}

function missing(
  { service, reason, nextStep }: SupplementsView['missing'][number],
  texts: Texts['supplements'],
): Markup {
  return markup`<article class="finding error">
<h3><span class="severity">${texts.missing_title}</span> ${service}</h3>
<p>${reason}</p>
<p class="minor">${nextStep}</p>
</article>
`;
}

function table(kinds: readonly KindRow[]): Markup {
  const number = (count: number, state: string) =>
    markup`<td class="number ${count === 0 ? 'none' : state}">${grouped(count)}</td>`;
  return markup`<div class="wide" tabindex="0" role="group" aria-labelledby="supplements-title"><table class="totals">
<thead><tr><th scope="col">Records</th><th scope="col" class="number">In the period</th><th scope="col" class="number">Proved by entry</th><th scope="col" class="number">Contradicted</th><th scope="col" class="number">Without an entry</th><th scope="col" class="number">Unproved</th></tr></thead>
<tbody>
${kinds.map(
  ({ kind, service, inPeriod, proved, contradicted, noEntry, unproved }) =>
    markup`<tr><th scope="row">${kind} <span class="minor">${service}</span></th><td class="number">${grouped(inPeriod)}</td>${number(proved, 'proved')}${number(contradicted, 'refuted')}${number(noEntry, 'refuted')}${number(unproved, 'unproved')}</tr>\n`,
)}</tbody></table></div>
`;
}

function remarks({ findings, more }: SupplementsView): Markup {
  return markup`<div class="wide" tabindex="0" role="group" aria-labelledby="supplements-title"><table class="fits">
<thead><tr><th scope="col">Record</th><th scope="col">Entry</th><th scope="col">What was found</th></tr></thead>
<tbody>
${findings.map(remark)}</tbody></table></div>
${more === null ? null : markup`<p class="minor">${more}</p>\n`}`;
}

function remark({ severity, record, entry, message, values, nextStep }: SupplementRemark): Markup {
  return markup`<tr><th scope="row">${name(record)}</th><td>${entry === null ? '–' : name(entry)}</td><td><b class="${severity === 'error' ? 'refuted' : 'unproved'}">${severity}</b> ${name(message)}${values.map(
    ({ label, value }) => markup`<p class="digest">${label}: ${name(value)}</p>`,
  )}<p class="minor">${nextStep}</p></td></tr>
`;
}
