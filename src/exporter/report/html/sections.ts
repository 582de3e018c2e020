import { barChart, columnChart } from '../../../core/html/charts.ts';
import { each, type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import type { ClaimView } from '../view/claims.ts';
import type { FrameworkView } from '../view/controls.ts';
import type { Coverage } from '../view/coverage.ts';
import type { FindingGroup } from '../view/findings.ts';
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

/** Renders the control totals, from the service's stated counts to the verified ones. */
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

/** Renders the section for the preparer, after all sections for the auditor. */
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

/** Renders the meaning of each claim, and its counts over all streams. */
export function claims({ proof: { claims: all } }: RunView, texts: Texts): Markup {
  return markup`<p>${texts.proves.words}</p>
<p>${texts.proves.introduction}</p>
<div class="wide" tabindex="0" role="group" aria-labelledby="checks-title"><table>
<thead><tr><th scope="col">Claim</th><th scope="col">Proved means</th><th scope="col" class="number">Proved</th><th scope="col" class="number">Refuted</th><th scope="col" class="number">Unproved</th></tr></thead>
<tbody>
${all.map(claimRow)}</tbody></table></div>
`;
}

function claimRow(claim: ClaimView): Markup {
  const number = (state: 'proved' | 'refuted' | 'unproved') =>
    markup`<td class="number ${claim[state] === 0 ? 'none' : state}">${grouped(claim[state])}</td>`;
  const remarks = claim.remarks.map(
    ({ state, text, streams }) =>
      markup`<p class="minor">${state === 'proved' ? null : `${state}: `}${text} (${plural(streams, 'stream')})</p>`,
  );
  return markup`<tr><th scope="row">${claim.name}${
    claim.required ? markup` <span class="minor">required</span>` : null
  }</th><td>${claim.meaning}${remarks}</td>${number('proved')}${number('refuted')}${number('unproved')}</tr>
`;
}

export function findings({ proof }: RunView, texts: Texts): Markup {
  const { groups, total, streams, none } = proof.findings;
  if (groups.length === 0) return markup`<p>${none}</p>\n`;
  const values = { findings: plural(total, 'finding'), streams: plural(streams, 'stream') };
  return markup`<p>${fill(texts.findings.introduction, values)}</p>
${groups.map((group) => findingGroup(group, texts))}`;
}

function findingGroup(group: FindingGroup, texts: Texts): Markup {
  const { code, severity, shown, findings: count } = group;
  const more = count - shown.length;
  return markup`<article class="finding ${severity}">
<h3><span class="severity">${severity}</span> ${code} <span class="minor">${plural(group.streams, 'stream')}</span></h3>
<p>${group.meaning}</p>
<div class="wide" tabindex="0" role="group" aria-label="${code}"><table class="fits">
<thead><tr><th scope="col">Stream</th><th scope="col">Where</th><th scope="col">What was found</th></tr></thead>
<tbody>
${shown.map(
  ({
    streamId,
    place,
    message,
    entry,
    values,
  }) => markup`<tr><th scope="row">${name(streamId)}</th><td>${place}</td><td>${name(message)}${
    entry === null ? null : markup`<p class="minor">${name(entry)}</p>`
  }${values.map(({ label, value }) => markup`<p class="digest">${label}: ${value}</p>`)}</td></tr>
`,
)}</tbody></table></div>
${more > 0 ? markup`<p class="minor">${fill(texts.findings.more, { count: grouped(more) })}</p>\n` : null}</article>
`;
}
