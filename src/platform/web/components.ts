import { type Markup, type MarkupContent, markup, name } from '../../core/html/markup.ts';
import { roughly } from '../../core/plurals.ts';
import { type Query, withQuery } from './own-path.ts';

export interface DataColumn<Row> {
  head: string;
  cell(row: Row): MarkupContent;
  /**
   * Kind of a column: numbers are right-aligned, short values are not wrapped if there is room, and acts come last
   * without a visible head.
   */
  kind?: 'name' | 'number' | 'short' | 'act';
}

export interface DataTable<Row> {
  /** Subject of the rows, for screen readers only. */
  caption: string;
  columns: readonly DataColumn<Row>[];
  rows: readonly Row[];
  /** Content instead of a table without rows. */
  empty: Markup;
}

/**
 * Renders a table. On a narrow screen, each row becomes a block in which every value is preceded by the head of its
 * column.
 */
export function dataTable<Row>({ caption, columns, rows, empty }: DataTable<Row>): Markup {
  if (rows.length === 0) return empty;
  const head = ({ head: words, kind }: DataColumn<Row>) =>
    markup`<th scope="col"${classOf(kind)}>${kind === 'act' ? markup`<span class="heard">${words}</span>` : words}</th>`;
  const cell = (row: Row) => (column: DataColumn<Row>) =>
    column.kind === 'name'
      ? markup`<th scope="row">${column.cell(row)}</th>`
      : markup`<td data-head="${column.kind === 'act' ? '' : column.head}"${classOf(column.kind)}>${column.cell(row)}</td>`;
  return markup`<table class="data">
<caption class="heard">${caption}</caption>
<thead><tr>${columns.map(head)}</tr></thead>
<tbody>
${rows.map((row) => markup`<tr>${columns.map(cell(row))}</tr>\n`)}</tbody>
</table>
`;
}

function classOf(kind: DataColumn<never>['kind']): Markup | null {
  return kind === undefined || kind === 'name' ? null : markup` class="${kind}"`;
}

/** Different signs for the tones, so that color is not needed to tell them apart. */
const SIGNS = { good: '✓', bad: '✗', warning: '!', neutral: '–' } as const;
export type StatusTone = keyof typeof SIGNS;

/** Renders a state in a word. */
export function statusWord(tone: StatusTone, word: string): Markup {
  return markup`<span class="status ${tone}"><span aria-hidden="true">${SIGNS[tone]}</span> ${word}</span>`;
}

/** Tile with the most important facts: the subject, its state, and the next step. */
export interface TileView {
  title: string;
  tone: StatusTone;
  word: string;
  /** Sentences below the state. */
  content: MarkupContent;
  /** Link to the next page. */
  next?: { title: string; path: string };
}

export function tile({ title, tone, word, content, next }: TileView): Markup {
  return markup`<section class="tile ${tone}"><h2>${title}</h2>
<p class="state">${statusWord(tone, word)}</p>
${content}
${next === undefined ? null : markup`<p class="next"><a href="${next.path}">${next.title}</a></p>\n`}</section>
`;
}

/** Renders a moment in UTC, and the time since then. @param at RFC 3339 UTC. */
export function moment(at: string, now: Date): Markup {
  return markup`${utcTime(at)} <span class="minor">${distance(at, now)}</span>`;
}

/** Renders a moment in UTC. @param at RFC 3339 UTC. */
export function utcTime(at: string): Markup {
  return markup`<time datetime="${at}"><span>${at.slice(0, 10)}</span> <span>${at.slice(11, 19)} <abbr title="Coordinated Universal Time">UTC</abbr></span></time>`;
}

/** Renders a moment as a link to the page of the event. */
export function momentLink(path: string, at: string, now: Date): Markup {
  return markup`<a href="${path}">${utcTime(at)}</a> <span class="minor">${distance(at, now)}</span>`;
}

/** Renders a moment, or a word if there is none. */
export function momentOr(at: string | null, now: Date, otherwise: string): Markup {
  return at === null ? markup`<span class="minor">${otherwise}</span>` : moment(at, now);
}

export function distance(at: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(at)) / 1000;
  if (Math.abs(seconds) < 5) return 'just now';
  return seconds > 0 ? `${roughly(seconds)} ago` : `in ${roughly(-seconds)}`;
}

/** Renders an empty state: the future content, and the command that creates it. */
export function emptyState(sentence: MarkupContent, next: MarkupContent = null): Markup {
  return markup`<div class="none"><p>${sentence}</p>${next}</div>
`;
}

/**
 * Renders a text with a copy button, which is shown if scripts run.
 * @param id of its element, unique on the page.
 */
export function copyable(id: string, label: string, text: string): Markup {
  return markup`<div class="copy"><pre id="${id}" tabindex="0" role="region" aria-label="${label}">${text}</pre><button type="button" class="small" data-copies="${id}" hidden>Copy</button></div>
`;
}

/** Renders the act of a page as a call of the API. */
export function asCurl(id: string, command: string): Markup {
  return markup`<details class="curl"><summary>Copy as curl</summary>${copyable(id, 'The same as an API call', command)}</details>
`;
}

/** Fact about a subject. */
export type Fact = readonly [label: string, value: MarkupContent];

/** Renders facts about one subject; null entries are omitted. */
export function factList(facts: readonly (Fact | null)[]): Markup {
  return markup`<dl class="facts">
${facts.filter((fact) => fact !== null).map(([label, value]) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>\n`)}</dl>
`;
}

/**
 * Renders links to the first and the next page of a list, keeping its query.
 * @param next cursor of the next page; null on the last page.
 * @param by query parameter with the cursor.
 */
export function further(path: string, query: Query, next: string | number | null, by = 'cursor'): Markup | null {
  const { [by]: at, ...asked } = query;
  const first = at === undefined ? null : markup`<a href="${withQuery(path, asked)}" rel="first">First page</a>`;
  const on =
    next === null ? null : markup`<a href="${withQuery(path, { ...asked, [by]: next })}" rel="next">Next page</a>`;
  if (first === null && on === null) return null;
  return markup`<p class="further">${first}${first === null || on === null ? null : ' · '}${on}</p>\n`;
}

export function link(path: string, words: string): Markup {
  return markup`<a href="${path}">${name(words)}</a>`;
}

/** Renders a link in the form of a button, which starts an act. */
export function action(path: string, words: string, weight: 'main' | 'quiet' = 'main'): Markup {
  return markup`<a class="button${weight === 'quiet' ? ' quiet' : ''}" href="${path}">${words}</a>`;
}

/** Length above which an id may be wrapped in a narrow column. */
const SHORT_ID = 24;

/** Renders an id. */
export function idText(id: string): Markup {
  return id.length > SHORT_ID ? markup`<code>${name(id)}</code>` : markup`<code class="short">${name(id)}</code>`;
}

/** Renders a digest, of which the start is visible at once and the rest on demand. */
export function digest(hex: string | null): Markup {
  if (hex === null) return markup`<span class="minor">none</span>`;
  return markup`<code class="digest">${hex}</code>`;
}
