import { each, Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { CLAIMS, type Claim } from '../../../verifier/claims/claim.ts';
import type { RunStream } from '../../../verifier/records/record.ts';
import { fill } from '../view/sentences.ts';
import { listedStreams, type StreamFact, sayLeftOut } from '../view/stream-facts.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';

const LABEL_LENGTH = 12;
/** Maximum number of rows that a browser can show, search and sort at once. */
const MAX_ROWS = 5000;

/** Sort order of the columns: cells that need attention first. */
const RANKS = { refuted: 0, unproved: 1, proved: 2 } as const;
const STATUS_RANKS = { refuted: 0, incomplete: 1, empty: 2, collected: 3, verified: 4 } as const;

/**
 * Renders the table of streams and claims. It is readable without scripts; with scripts it can be searched and sorted.
 */
export function streams({ streams: { all, factsOf } }: RunView, texts: Texts): Markup | null {
  if (all.length === 0) return null;
  const listed = listedStreams(all, MAX_ROWS);
  const leftOut = all.length - listed.length;
  return markup`<p>${fill(texts.streams.introduction, { streams: plural(all.length, 'stream') })}</p>
${leftOut === 0 ? null : markup`<p>${sayLeftOut(leftOut, MAX_ROWS, texts)}</p>\n${identities(all)}`}
<form class="tools" role="search" hidden>
<label>Search <input type="search" id="query" autocomplete="off" spellcheck="false"></label>
<label>Show <select id="shown"><option value="">all</option><option value="amiss">not verified</option><option value="refuted">refuted</option></select></label>
<output id="count" role="status" aria-live="polite"></output>
</form>
<div class="wide" tabindex="0" role="group" aria-labelledby="streams-title"><table id="table" class="streams">
<thead><tr><th scope="col" aria-sort="none">Stream</th><th scope="col" class="number entries" aria-sort="none">Entries</th>${CLAIMS.map(
    (claim) => markup`<th scope="col" class="upright" aria-sort="none"><span>${claim}</span></th>`,
  )}<th scope="col" class="status" aria-sort="none">Status</th></tr></thead>
<tbody>
${each(listed, (stream) => row(stream, factsOf(stream)))}</tbody></table></div>
`;
}

/**
 * Renders bundle identity and stream id of every stream for `belongingOf`, as JSON Lines that cannot close the element.
 */
function identities(all: Iterable<RunStream>): Markup {
  const line = ({ bundle, stream_id }: RunStream) =>
    `${JSON.stringify([bundle.identity, stream_id]).replaceAll('<', '\\u003c')}\n`;
  return markup`<script type="application/jsonl" id="identities">
${each(all, (stream) => new Markup([line(stream)]))}</script>
`;
}

function row(stream: RunStream, facts: readonly StreamFact[]): Markup {
  const { claims, partial, status } = stream;
  const words = partial && status !== 'incomplete' ? `PARTIAL, ${status}` : partial ? 'PARTIAL' : status;
  const state = partial ? 'incomplete' : status;
  return markup`<tr data-identity="${stream.bundle.identity}" data-status="${status === 'refuted' ? 'refuted' : state}"><th scope="row">${details(stream, facts)}</th><td class="number entries" data-sort="${stream.entries}">${grouped(stream.entries)}</td>${CLAIMS.map(
    (claim) => cell(claims[claim]),
  )}<td class="status ${status === 'refuted' ? 'refuted' : state}" data-sort="${partial ? 0.5 : STATUS_RANKS[status]}">${words}</td></tr>
`;
}

/** Renders the state as a word; the style replaces it with a mark. */
function cell({ state }: Claim): Markup {
  return markup`<td class="mark ${state}" data-sort="${RANKS[state]}">${state}</td>`;
}

/** Renders what identifies the stream's evidence, and the reasons for unproved claims. */
function details(stream: RunStream, facts: readonly StreamFact[]): Markup {
  const { head, bundle, claims, package_id, findings_count } = stream;
  const reasons = CLAIMS.filter((claim) => claims[claim].state !== 'proved').map(
    (claim) => `${claim} is ${claims[claim].state}: ${claims[claim].reason ?? 'no reason is recorded'}`,
  );
  const lines: StreamFact[] = [
    ...facts,
    ['entries', grouped(stream.entries)],
    ['head', head?.hash ?? 'none'],
    ['package', package_id ?? 'none'],
    ['bundle', bundle.key],
    ['SHA-256', bundle.sha256],
    ['identity', bundle.identity],
  ];
  return markup`<details><summary>${name(stream.stream_id)}</summary>${reasons.map(
    (reason) => markup`<p>${reason}</p>`,
  )}${findings_count === 0 ? null : markup`<p>${plural(findings_count, 'finding')}</p>`}<pre>${lines
    .map(([label, value]) => `${label.padEnd(LABEL_LENGTH)} ${value}`)
    .join('\n')}</pre></details>`;
}
