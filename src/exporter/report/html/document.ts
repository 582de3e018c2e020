import { createHash } from 'node:crypto';
import { Markup, type MarkupContent, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import type { ClaimView } from '../view/claims.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import {
  activity,
  claims,
  controls,
  coverage,
  custody,
  exceptions,
  findings,
  howTo,
  ipe,
  late,
  limits,
  population,
  preparer,
} from './sections.ts';
import { streams } from './streams.ts';
import { supplements } from './supplements.ts';

/** Style and programs of the page, written into it unchanged. */
export interface PageParts {
  style: string;
  /** Program that runs in the page: searches, sorts, accepts bundles. */
  page: string;
  /** Program that runs in a worker: verifies a bundle. */
  verifier: string;
}

interface Section {
  id: string;
  title: string;
  content: Markup | null;
}

/**
 * Renders the run as one self-contained HTML file. Its policy forbids all connections and allows only the two programs
 * inside it. The same view yields the same bytes. The file is rendered in pieces.
 */
export function renderHtml(view: RunView, texts: Texts, parts: PageParts): Iterable<string> {
  const { runId, organisation } = view.run;
  const title = [texts.title, organisation, `run ${runId}`].filter((part) => part !== null).join(' · ');
  const sections = sectionsOf(view, texts).filter(({ content }) => content !== null);
  const document = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(parts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${verbatim(parts.style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
${summary(view, texts)}
<div class="columns">
<nav aria-label="Sections"><ol>
${sections.map(({ id, title: name }) => markup`<li><a href="#${id}">${name}</a></li>\n`)}</ol></nav>
<main id="main" tabindex="-1">
${sections.map(section)}</main>
</div>
<footer><p>${title}</p></footer>
<script type="text/plain" id="verifier">${verbatim(parts.verifier)}</script>
<script>${verbatim(parts.page)}</script>
</body>
</html>
`;
  return document.write();
}

function sectionsOf(view: RunView, texts: Texts): Section[] {
  return [
    { id: 'ipe', title: 'IPE statement', content: ipe(view, texts) },
    { id: 'population', title: texts.population.title, content: population(view, texts) },
    { id: 'exceptions', title: 'Exceptions and exclusions', content: exceptions(view, texts) },
    { id: 'late', title: texts.late.title, content: late(view, texts) },
    { id: 'checks', title: 'What was checked', content: claims(view, texts) },
    { id: 'findings', title: 'Findings', content: findings(view, texts) },
    { id: 'supplements', title: texts.supplements.title, content: supplements(view, texts) },
    { id: 'streams', title: 'Streams', content: streams(view, texts) },
    { id: 'verify', title: 'Verify a bundle here', content: verification(view, texts) },
    { id: 'activity', title: 'Activity', content: activity(view) },
    { id: 'coverage', title: 'Coverage by month', content: coverage(view, texts) },
    { id: 'custody', title: 'Chain of custody', content: custody(view, texts) },
    { id: 'limits', title: 'What this does not prove', content: limits(view) },
    { id: 'how', title: 'How to verify it yourself', content: howTo(texts) },
    { id: 'controls', title: 'Control mapping', content: controls(view, texts) },
    { id: 'preparer', title: texts.preparer.title, content: preparer(view, texts) },
  ];
}

function section({ id, title, content }: Section): MarkupContent {
  return markup`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${content}</section>
`;
}

/**
 * Content Security Policy Level 3. A worker made from a blob inherits the policy, so the verifier cannot connect
 * either.
 */
function policyFor({ style, page }: PageParts): string {
  return [
    "default-src 'none'",
    `script-src ${sourceOf(page)} 'wasm-unsafe-eval'`,
    `style-src ${sourceOf(style)}`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Returns text for a script or style element. HTML section 13.1.2.6: an end tag ends the element, and a comment opener
 * could hide that tag.
 */
function verbatim(text: string): Markup {
  if (/<\/(script|style)|<!--/i.test(text)) throw new TypeError('a program of the page would end its own element');
  return new Markup([text]);
}

/** Renders the header: organization, period and outcome in prominent words. */
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

/** Renders the sum listed = exported + partial + failed + empty + excluded term by term, for a reader to follow. */
function reconciliation({ reconciliation: { listed, ...parts } }: RunView['extent']): Markup {
  const term = (label: string, count: number, sign: string): MarkupContent =>
    markup`<li${count > 0 && (label === 'partial' || label === 'failed') ? markup` class="amiss"` : null}>${
      sign === '' ? null : markup`<span class="sign">${sign}</span>`
    }<b>${grouped(count)}</b> <span class="of">${label}</span></li>\n`;
  const terms = Object.entries(parts).map(([label, count], index) => term(label, count, index === 0 ? '=' : '+'));
  return markup`<ul class="sum" aria-label="Reconciliation">
${term('streams listed', listed, '')}${terms}</ul>`;
}

/** Renders one claim of the overview, so that an unproved claim cannot hide behind the outcome above. */
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

/** Renders the drop area for bundles. The page's program reports results; `data-run` gives it the id of this run. */
export function verification({ run: { runId } }: RunView, { browser }: Texts): Markup {
  return markup`<p>${browser.introduction}</p>
<ul>
${browser.limits.map((limit) => markup`<li>${limit}</li>\n`)}</ul>
<noscript><p class="refuted">${browser.no_script}</p></noscript>
<div id="drop" class="drop" data-run="${runId}" hidden><label for="files"><b>Drop bundles here</b>, or choose them</label><input type="file" id="files" multiple accept=".zip,application/zip"></div>
<output id="said" role="status" aria-live="polite" class="minor"></output>
<div id="results"></div>
`;
}
