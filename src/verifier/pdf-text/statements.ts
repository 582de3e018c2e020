import { hasNoValue, headingOf, isOfAnother, looksMade } from './headings.ts';
import { isId, type Label, MAX_LABEL_WORDS, type StatedFact, toLabel } from './labels.ts';
import { type PageLine, type TextCell, toLines } from './lines.ts';
import type { Piece } from './text.ts';

/** One place of a PDF where a fact stands beside or below its label. */
export interface Statement {
  fact: StatedFact;
  /** In lower case, as words. */
  label: string;
  /** The value as it stands; then with the next line below it, which may be its rest, with two, and so on. */
  texts: string[];
  /** From 1. */
  page: number;
  /** Whether label and value can hardly mean anything else. */
  isPlain: boolean;
  /** Left edges of label and value: those of one list of facts are alike. */
  columns: string;
  /** The nearest line above that has no value; empty where there is none. */
  section: string;
  /** Whether one text lies on another there. */
  isOverprinted: boolean;
  /** Why a person may not see it; null when it is plain to see. */
  unseen: string | null;
}

interface Found extends Omit<Statement, 'page' | 'unseen'> {
  /** Whether it is a statement by itself, not only beside others of the same columns. */
  isCertain: boolean;
}

/** Where a statement stands. */
interface Place {
  lines: readonly PageLine[];
  /** Of the value. */
  line: number;
  cell: TextCell;
  text: string;
  labelX: number;
  isBelow: boolean;
}

/** A count without a label, in a sentence or alone in its line. */
const COUNT_IN_WORDS =
  /^(\p{Nd}[\p{Nd},.'’\u00a0\u202f ]{0,30}) (?:audit |log )?entries\.?$|\b(?:contain(?:s|ing)?|compris(?:es|ing)|hold(?:s|ing)?|cover(?:s|ing)?|total of|of) (\p{Nd}[\p{Nd},.'’\u00a0\u202f ]{0,30}) (?:audit |log )?entries\b/giu;
const COUNT = /^[\p{Nd},.'’_\u00a0\u202f ]+(?: (?:entries|records|events))?$/iu;

/** Of lines that may go on with a value. */
const MAX_REST = 8;
const MAX_VALUE = 512;
/** Characters of a digest that is cut short; a shorter one is a word. */
const LEAST_DIGEST = 8;

/**
 * What a page states beside or below the labels of the facts: once as a person sees it, and then whatever else a
 * program may read there, from text that is not plain to see, by itself and together with the rest.
 */
export function readStatements(pieces: readonly Piece[], page: number): Statement[] {
  const hidden = pieces.filter(({ unseen }) => unseen !== null);
  const seen = statementsOf(toLines(pieces.filter(({ unseen }) => unseen === null)));
  const plain = seen.map((found): Statement => toStatement(found, page, null));
  if (hidden.length === 0) return plain;
  const known = new Set(seen.map(keyOf));
  const others = [...statementsOf(toLines(hidden)), ...statementsOf(toLines(pieces))].filter((found) => {
    const isNew = !known.has(keyOf(found));
    known.add(keyOf(found));
    return isNew;
  });
  return [...plain, ...others.map((found) => toStatement(found, page, whyUnseen(found, hidden)))];
}

function toStatement(found: Found, page: number, unseen: string | null): Statement {
  const { isCertain: _, ...stated } = found;
  return { ...stated, page, unseen };
}

function keyOf({ fact, texts }: Found): string {
  return `${fact} ${texts[0]}`;
}

function whyUnseen({ texts, label }: Found, hidden: readonly Piece[]): string {
  const words = `${label} ${texts.join(' ')}`;
  const piece = hidden.find(({ text }) => words.toLowerCase().includes(text.trim().toLowerCase())) ?? hidden[0];
  return piece?.unseen ?? 'not plain to see';
}

function statementsOf(lines: readonly PageLine[]): Found[] {
  const found = lines.flatMap((_, index) => statementsIn(lines, index));
  return found.filter(
    ({ isCertain, columns, fact }) =>
      isCertain ||
      fact === 'count' ||
      found.some((other) => other.isCertain && other.fact !== fact && other.columns === columns),
  );
}

function statementsIn(lines: readonly PageLine[], index: number): Found[] {
  const cells = lines[index]?.cells ?? [];
  return cells.flatMap((cell, at) => {
    const right = cells[at + 1];
    const below = cells.length === 1 ? lines[index + 1] : undefined;
    const labelled =
      withinCell(lines, index, cell) ??
      (right === undefined ? undefined : besideCell(lines, index, cell, right)) ??
      (below?.cells.length === 1 ? belowCell(lines, index, cell) : undefined);
    return labelled === undefined ? countsInWords(cell, cells.length === 1) : [labelled];
  });
}

/** `Entries: 250` and `Entries 250`, drawn as one. */
function withinCell(lines: readonly PageLine[], line: number, cell: TextCell): Found | undefined {
  const place = { lines, line, cell, labelX: cell.x, isBelow: false };
  const [, before, after] = /^([^:=]{2,40}[:=])\s*(.+)$/.exec(cell.text) ?? [];
  const marked = before === undefined ? null : toLabel(before);
  if (marked !== null && after !== undefined) return toFound(marked, { ...place, text: after });
  const words = cell.text.split(' ');
  for (let count = Math.min(words.length - 1, MAX_LABEL_WORDS); count > 0; count--) {
    const label = toLabel(words.slice(0, count).join(' '));
    if (label === null) continue;
    const found = toFound(label, { ...place, text: words.slice(count).join(' ') });
    // "Package contents" and "Evidence package 2026-10" are headings, "Entries 1 to 100" is one.
    const isStatement = found?.isCertain && (label.isExplicit || (!isId(label.fact) && found.isPlain));
    return isStatement ? found : undefined;
  }
  return undefined;
}

function besideCell(lines: readonly PageLine[], line: number, cell: TextCell, right: TextCell): Found | undefined {
  const label = toLabel(cell.text);
  if (label === null) return undefined;
  return toFound(label, { lines, line, cell: right, text: right.text, labelX: cell.x, isBelow: false });
}

/** A value alone in the line under its label. What follows a bare "Stream" or "Package" there is a heading's text. */
function belowCell(lines: readonly PageLine[], index: number, cell: TextCell): Found | undefined {
  const label = toLabel(cell.text);
  const value = lines[index + 1]?.cells[0];
  if (label === null || value === undefined || (isId(label.fact) && !label.isExplicit)) return undefined;
  return toFound(label, { lines, line: index + 1, cell: value, text: value.text, labelX: cell.x, isBelow: true });
}

function countsInWords(cell: TextCell, isAlone: boolean): Found[] {
  return [...cell.text.matchAll(COUNT_IN_WORDS)].flatMap(([, alone, within]) => {
    const text = within ?? (isAlone ? alone : undefined);
    if (text === undefined) return [];
    return [
      {
        fact: 'count',
        label: 'in words',
        texts: [text],
        isPlain: false,
        isOverprinted: cell.isOverprinted,
        isCertain: true,
        columns: '',
        section: '',
      } satisfies Found,
    ];
  });
}

function toFound(label: Label, place: Place): Found | undefined {
  const { cell, labelX, isBelow, text, lines, line } = place;
  const { fact, isExplicit } = label;
  const texts = withRest(place);
  const section = headingOf(lines, line, hasNoValue);
  if (!isValue(label, place, texts)) return undefined;
  return {
    fact,
    label: label.words,
    texts,
    columns: `${Math.round(labelX / 2)} ${Math.round(cell.x / 2)}`,
    isCertain: isId(fact) ? isExplicit || looksMade(text) : fact === 'head' || COUNT.test(text),
    isOverprinted: cell.isOverprinted,
    isPlain:
      label.isPlain &&
      !isBelow &&
      !isInTable(lines[line]) &&
      (fact !== 'count' || COUNT.test(text)) &&
      !isOfAnother(headingOf(lines, line)),
    section,
  };
}

function isValue({ fact }: Label, { text, isBelow }: Place, texts: readonly string[]): boolean {
  if (text.length > MAX_VALUE) return false;
  if (fact === 'count') return isBelow ? COUNT.test(text) : /\p{Nd}/u.test(text);
  if (fact === 'head') return looksLikeDigest(texts.join(' '));
  return /^\S+$/.test(text) || !isBelow;
}

function looksLikeDigest(text: string): boolean {
  const run = text.replace(/^(?:sha-?\d{3} ?[:=]? ?|0x)/i, '').split(/[.…]/)[0] ?? '';
  const isHex = /^[0-9a-f ]+$/i.test(run) && run.replaceAll(' ', '').length >= LEAST_DIGEST;
  return isHex || /[0-9A-Za-z+/_-]{40,}={0,2}/.test(run);
}

/** A row of more columns than a label and its value, unless all of it is labels and values. */
function isInTable(line: PageLine | undefined): boolean {
  const cells = line?.cells ?? [];
  if (cells.length <= 2) return false;
  return cells.length % 2 === 1 || cells.some(({ text }, index) => index % 2 === 0 && toLabel(text) === null);
}

function withRest({ lines, line, cell, text }: Place): string[] {
  const texts = [text];
  for (let at = line; texts.length <= MAX_REST; at++) {
    const rest = continuation(lines, at, cell);
    if (rest === undefined) break;
    texts.push(rest.text);
  }
  return texts;
}

/** What stands alone in the very next line, under the value. */
function continuation(lines: readonly PageLine[], line: number, cell: TextCell): TextCell | undefined {
  const here = lines[line];
  const next = lines[line + 1];
  if (here === undefined || next === undefined || next.cells.length !== 1) return undefined;
  const [under] = next.cells;
  return under !== undefined && Math.abs(under.x - cell.x) <= 2 && here.y - next.y <= 2 * here.size ? under : undefined;
}
