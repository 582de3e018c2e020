import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import type { ClaimView } from '../view/claims.ts';
import type { FindingGroup } from '../view/findings.ts';
import { fill } from '../view/sentences.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

/** The meaning of each claim, and its state over all streams. */
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
