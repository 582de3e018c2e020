import { type Markup, type MarkupContent, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import type { ClaimView } from '../view/claims.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

/** The organization, the period and the outcome, in words that nobody overlooks. */
export function summary(view: RunView, texts: Texts): Markup {
  const { run, outcome, extent, proof } = view;
  const { findings } = proof;
  return markup`<header>
<p class="kind">${texts.title}</p>
<h1>${name(run.organisation ?? `Run ${run.runId}`)}</h1>
<p class="period">${run.period}</p>
<div class="outcome ${outcome.tone}">
<p class="word">${outcome.words.join(' · ')}</p>
${outcome.sentences.map((sentence) => markup`<p>${sentence}</p>\n`)}</div>
${reconciliation(extent)}
<ul class="claims" aria-label="Claims">
${proof.claims.map(tile)}</ul>
<dl class="facts">
${fact('Run', run.runId)}${run.request === null ? null : fact('Request', run.request)}${
  run.requestedBy === null ? null : fact('Requested by', run.requestedBy)
}${run.preparedBy === null ? null : fact('Prepared by', run.preparedBy)}${fact(run.finalized ? 'Finalized' : 'Attempted', `${run.finishedAt} (UTC)`)}${fact('Entries', grouped(extent.entries))}${fact(
  'Findings',
  findings.total === 0 ? 'none' : grouped(findings.total),
)}${run.notes.length === 0 ? null : fact('Notes', run.notes.join(' '))}</dl>
</header>`;
}

/** Listed = exported + partial + failed + empty + excluded, as a sum that can be followed with a finger. */
function reconciliation({ reconciliation: { listed, ...parts } }: RunView['extent']): Markup {
  const term = (label: string, count: number, sign: string): MarkupContent =>
    markup`<li${count > 0 && (label === 'partial' || label === 'failed') ? markup` class="amiss"` : null}>${
      sign === '' ? null : markup`<span class="sign">${sign}</span>`
    }<b>${grouped(count)}</b> <span class="of">${label}</span></li>\n`;
  const terms = Object.entries(parts).map(([label, count], index) => term(label, count, index === 0 ? '=' : '+'));
  return markup`<ul class="sum" aria-label="Reconciliation">
${term('streams listed', listed, '')}${terms}</ul>`;
}

/** The seven claims at a glance: what is not proved must not hide behind the word above. */
function tile({ name: claim, proved, refuted, of }: ClaimView): Markup {
  const state = refuted > 0 ? 'refuted' : proved === of && of > 0 ? 'proved' : 'unproved';
  return markup`<li class="${state}"><b>${claim}</b> <span>${grouped(proved)} of ${grouped(of)} proved</span>${
    refuted === 0 ? null : markup` <span>${grouped(refuted)} refuted</span>`
  }</li>
`;
}

function fact(label: string, value: string): Markup {
  return markup`<div><dt>${label}</dt><dd>${name(value)}</dd></div>
`;
}
