import { each, type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import type { FrameworkView } from '../view/controls.ts';
import { fill } from '../view/sentences.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

export function ipe({ provenance: { ipe: facts } }: RunView, texts: Texts): Markup {
  return markup`<p>${texts.ipe.introduction}</p>
<dl class="statement">
${facts.map(
  ({ label, lines, form }) =>
    markup`<div><dt>${label}</dt>${lines.map((line) => markup`<dd${form === 'mono' ? markup` class="mono"` : null}>${name(line)}</dd>`)}</div>\n`,
)}</dl>
<ul class="review">${['name', 'signature', 'date'].map((what) => markup`<li>${texts.ipe.review} (${what})</li>`)}</ul>
`;
}

/** From what the service says that it has to what was verified of it. */
export function population({ extent }: RunView, { population: texts }: Texts): Markup {
  const { rows } = extent.population;
  const row = ({ label, streams, entries, isAmiss }: (typeof rows)[number]) =>
    markup`<tr><th scope="row">${label}</th><td class="number${isAmiss ? ' refuted' : ''}">${grouped(streams)}</td><td class="number${isAmiss ? ' refuted' : ''}">${entries === null ? '–' : grouped(entries)}</td></tr>\n`;
  return markup`<p>${texts.introduction}</p>
<div class="wide" tabindex="0" role="group" aria-labelledby="population-title"><table class="totals">
<thead><tr><th scope="col"></th><th scope="col" class="number">Streams</th><th scope="col" class="number">Entries</th></tr></thead>
<tbody>
${rows.map(row)}</tbody></table></div>
`;
}

/** The section for the exporter's user, after all that an auditor reads. */
export function preparer({ preparer: advice }: RunView, { preparer: texts }: Texts): Markup | null {
  if (advice.length === 0) return null;
  return markup`<p>${texts.introduction}</p>
<ul>
${advice.map(({ step, about, others }) => markup`<li>${name(step)}<p class="minor">${name(about.join('; '))}${others === 0 ? null : `; and ${grouped(others)} more`}</p></li>\n`)}</ul>
`;
}

export function exceptions({ extent: { exceptions: all, moreExceptions } }: RunView, texts: Texts): Markup | null {
  if (all.length === 0) return null;
  return markup`<div class="wide" tabindex="0" role="group" aria-labelledby="exceptions-title"><table class="fits">
<thead><tr><th scope="col">Stream</th><th scope="col">What</th><th scope="col">Why</th></tr></thead>
<tbody>
${each(
  all,
  ({ kind, streamId, reason }) =>
    markup`<tr><th scope="row">${name(streamId)}</th><td class="${kind === 'excluded' ? 'unproved' : 'refuted'}"><b>${kind}</b></td><td>${name(reason)}</td></tr>\n`,
)}</tbody></table></div>
${sayMore(moreExceptions, texts)}`;
}

function sayMore(count: number, texts: Texts): Markup | null {
  return count === 0 ? null : markup`<p>${fill(texts.exceptions.more, { count: grouped(count) })}</p>\n`;
}

export function late({ extent }: RunView, texts: Texts): Markup | null {
  if (extent.late.length === 0) return null;
  return markup`<p>${texts.late.introduction}</p>
<div class="wide" tabindex="0" role="group" aria-labelledby="late-title"><table class="fits">
<thead><tr><th scope="col">Stream</th><th scope="col">Entries</th><th scope="col">Dated</th><th scope="col">First seen by run</th></tr></thead>
<tbody>
${each(
  extent.late,
  ({ streamId, numbers, month, seenBy }) =>
    markup`<tr><th scope="row">${name(streamId)}</th><td class="refuted">${numbers}</td><td>${month}</td><td>${name(seenBy)}</td></tr>\n`,
)}</tbody></table></div>
${sayMore(extent.moreLate, texts)}`;
}

export function custody({ provenance: { custody: steps } }: RunView, texts: Texts): Markup {
  return markup`<p>${texts.custody.introduction}</p>
<ol class="timeline">
${steps.map(
  ({ at, when, who, what }) =>
    markup`<li>${at === '' ? when : markup`<time datetime="${at}">${when}</time>`} <b>${name(who)}</b><p>${name(what)}</p></li>\n`,
)}</ol>
`;
}

export function limits({ proof: { doesNotProve } }: RunView): Markup {
  return markup`<ul>
${doesNotProve.map((limit) => markup`<li>${limit}</li>\n`)}</ul>
`;
}

export function howTo({ verify }: Texts): Markup {
  return markup`<p>${verify.introduction}</p>
<ol class="steps">
${verify.steps.map(
  ({ title, text, command }) =>
    markup`<li><h3>${title}</h3><p>${text}</p><pre tabindex="0"><code>${command}</code></pre></li>\n`,
)}</ol>
`;
}

export function controls({ frameworks }: RunView, texts: Texts): Markup {
  if (frameworks.length === 0) return markup`<p>${texts.controls.none}</p>\n`;
  return markup`<p>${texts.controls.introduction}</p>
${frameworks.map((framework) => frameworkTable(framework, texts))}`;
}

function frameworkTable({ framework, note, controls: all }: FrameworkView, texts: Texts): Markup {
  return markup`<h3>${framework}</h3>
${note === null ? null : markup`<p class="minor">${note}</p>\n`}<div class="wide" tabindex="0" role="group" aria-label="${framework}"><table>
<thead><tr><th scope="col">Control</th><th scope="col">What the evidence speaks to, and where it ends</th><th scope="col">In this run</th></tr></thead>
<tbody>
${all.map((control) => controlRow(control, texts))}</tbody></table></div>
`;
}

function controlRow(control: FrameworkView['controls'][number], texts: Texts): Markup {
  const { id, title, speaksTo, doesNotShow, streams, refuted, claims } = control;
  const alarm = fill(texts.controls.refuted, { streams: plural(refuted, 'stream') });
  return markup`<tr><th scope="row">${id}<p class="minor">${title}</p></th><td>${speaksTo}<p class="minor">Does not show: ${doesNotShow}</p></td><td>${plural(streams, 'stream')} with entries${claims.map(
    (claim) => markup`<p class="minor">${claim.name} proved in ${grouped(claim.proved)}</p>`,
  )}${refuted === 0 ? null : markup`<p class="refuted"><b>${alarm}</b></p>`}</td></tr>
`;
}
