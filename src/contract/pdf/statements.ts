import type { Cell, Line } from './lines.ts';

/** What the PDF form states beside its labels; null for what it does not state where it can be found. */
export interface PdfFacts {
  packageId: string | null;
  /** Only an id of printable ASCII: other scripts are normalised, reordered or replaced when a PDF is set. */
  streamId: string | null;
  entryCount: number | null;
  /** Lower-case hex. */
  headDigest: string | null;
}

type Fact = keyof PdfFacts;

/** A value beside or below a label. */
interface Statement {
  fact: Fact;
  value: string | number;
  place: 'beside' | 'below';
  /** Left edges of label and value, to tell a list of facts from words that happen to stand side by side. */
  columns: string;
  /** Whether label and value can hardly be anything else. */
  isCertain: boolean;
}

interface Label {
  fact: Fact;
  /** It says that an id follows, by a colon or by a word: no heading does. */
  isExplicit: boolean;
}

const LABELS: Record<Fact, RegExp> = {
  packageId: /^(?:evidence )?package( id| identifier| number| no\.?)?$/,
  streamId: /^(?:audit |log )?stream( id| identifier| name)?$/,
  entryCount: /^(?:(?:total )?entries|entry count|(?:number|count) of entries|entries total)$/,
  headDigest: /^(?:chain |stream )?head(?: hash| digest)?$/,
};
const FACTS: readonly Fact[] = ['packageId', 'streamId', 'entryCount', 'headDigest'];

const MAX_ID = 512;
/** A longer one below its label may go on in the next line. */
const MAX_ID_BELOW = 64;

/**
 * What a page states beside or below the labels of the facts. Strict, because a heading or a table taken for a
 * statement would accuse an honest service: a fact that is stated twice and differently counts as not stated.
 */
export function readStatements(lines: readonly Line[]): PdfFacts {
  const found = lines.flatMap((_, index) => statementsIn(lines, index));
  const statements = found.filter(
    ({ isCertain, columns, fact }) =>
      isCertain || found.some((other) => other.isCertain && other.fact !== fact && other.columns === columns),
  );
  const text = (fact: Fact) => {
    const value = only(statements, fact);
    return typeof value === 'string' ? value : null;
  };
  const count = only(statements, 'entryCount');
  return {
    packageId: text('packageId'),
    streamId: text('streamId'),
    entryCount: typeof count === 'number' ? count : null,
    headDigest: text('headDigest'),
  };
}

function only(statements: readonly Statement[], fact: Fact): string | number | null {
  const all = statements.filter((statement) => statement.fact === fact);
  const beside = all.filter(({ place }) => place === 'beside');
  const values = new Set((beside.length > 0 ? beside : all).map(({ value }) => value));
  const [value] = values;
  return values.size === 1 && value !== undefined ? value : null;
}

function statementsIn(lines: readonly Line[], index: number): Statement[] {
  const cells = lines[index]?.cells ?? [];
  return cells.flatMap((cell, at) => {
    const right = cells[at + 1];
    const below = cells.length === 1 ? lines[index + 1] : undefined;
    return (
      withinCell(lines, index, cell) ??
      (right === undefined ? undefined : besideCell(lines, index, cell, right)) ??
      (below?.cells.length === 1 ? belowCell(lines, index, cell) : undefined) ??
      []
    );
  });
}

/** `Entries: 250` and `Entries 250`, drawn as one. */
function withinCell(lines: readonly Line[], index: number, cell: Cell): Statement | undefined {
  const [, before, after] = /^([^:=]{2,30}[:=])\s*(.+)$/.exec(cell.text) ?? [];
  const marked = before === undefined ? null : toLabel(before);
  if (marked !== null && after !== undefined)
    return toStatement(marked, 'beside', cell, { x: cell.x, text: after }, lines, index);
  const words = cell.text.split(' ');
  for (let count = Math.min(words.length - 1, 4); count > 0; count--) {
    const label = toLabel(words.slice(0, count).join(' '));
    if (label === null) continue;
    const rest = words.slice(count).join(' ');
    const statement = toStatement(label, 'beside', cell, { x: cell.x, text: rest }, lines, index);
    // "Package contents" and "Evidence package 2026-10" are headings.
    return statement?.isCertain && (label.isExplicit || !isId(label.fact)) ? statement : undefined;
  }
  return undefined;
}

function besideCell(lines: readonly Line[], index: number, cell: Cell, right: Cell): Statement | undefined {
  const label = toLabel(cell.text);
  return label === null ? undefined : toStatement(label, 'beside', cell, right, lines, index);
}

/** A value alone in the line under its label. What follows a bare "Stream" or "Package" there is a heading's text. */
function belowCell(lines: readonly Line[], index: number, cell: Cell): Statement | undefined {
  const label = toLabel(cell.text);
  const value = lines[index + 1]?.cells[0];
  if (label === null || value === undefined || (isId(label.fact) && !label.isExplicit)) return undefined;
  return toStatement(label, 'below', cell, value, lines, index + 1);
}

function toStatement(
  { fact, isExplicit }: Label,
  place: Statement['place'],
  label: Cell,
  cell: Cell,
  lines: readonly Line[],
  line: number,
): Statement | undefined {
  const value = toValue(fact, place, cell, lines, line, label.x);
  if (value === null) return undefined;
  const isCertain = !isId(fact) || isExplicit || looksMade(String(value));
  const columns = `${Math.round(label.x / 2)} ${Math.round(cell.x / 2)}`;
  return { fact, value, place, columns, isCertain };
}

function toLabel(text: string): Label | null {
  const words = text
    .replace(/\s*[:=]$/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  for (const fact of FACTS) {
    const match = LABELS[fact].exec(words);
    if (match !== null) return { fact, isExplicit: match[1] !== undefined || /[:=]$/.test(text) };
  }
  return null;
}

function isId(fact: Fact): boolean {
  return fact === 'packageId' || fact === 'streamId';
}

/** Letters and digits in one long run, as no word of a heading is. */
function looksMade(id: string): boolean {
  return id.length >= 12 && /\d/.test(id) && /[a-z]/i.test(id);
}

function toValue(
  fact: Fact,
  place: Statement['place'],
  cell: Cell,
  lines: readonly Line[],
  line: number,
  labelX: number,
): string | number | null {
  if (fact === 'entryCount') return toCount(cell.text);
  const next = continuation(lines, line, cell);
  if (fact === 'headDigest') return toDigest(cell.text, lines, line, cell);
  // In a column of its own a value that goes on below is not all of the id, and where it was broken is not known.
  if (next !== undefined && cell.x > labelX + 2) return null;
  if (place === 'below' && cell.text.length > MAX_ID_BELOW) return null;
  return /^[\x21-\x7e]+$/.test(cell.text) && !cell.text.endsWith('...') && cell.text.length <= MAX_ID
    ? cell.text
    : null;
}

/** A whole number, perhaps in groups of three, perhaps with the word for what is counted. */
function toCount(text: string): number | null {
  const digits = text.replace(/ (?:entries|records|events)$/i, '');
  if (!/^\d+$/.test(digits) && !/^\d{1,3}(?:([,.'’_ \u00a0\u202f])\d{3})(?:\1\d{3})*$/.test(digits)) return null;
  const count = Number(digits.replace(/\D/g, ''));
  return Number.isSafeInteger(count) ? count : null;
}

/** A shorter piece below a digest is a number of its own. */
const MIN_HEX = 8;
const DIGEST_LENGTHS: ReadonlySet<number> = new Set([64, 96, 128]);

/** Hex of SHA-256, -384 or -512, perhaps in groups, perhaps over several lines. */
function toDigest(text: string, lines: readonly Line[], line: number, cell: Cell): string | null {
  let hex = toHex(text.replace(/^(?:sha-?\d{3} ?[:=]? ?|0x)/i, ''));
  if (hex === null) return null;
  for (let at = line; ; at++) {
    const more = toHex(continuation(lines, at, cell)?.text ?? '');
    if (more === null || more.length < MIN_HEX || hex.length + more.length > 128) break;
    hex += more;
  }
  return DIGEST_LENGTHS.has(hex.length) ? hex : null;
}

function toHex(text: string): string | null {
  const hex = text.replaceAll(' ', '').toLowerCase();
  return /^[0-9a-f]+$/.test(hex) ? hex : null;
}

/** What stands alone in the very next line, under the value. */
function continuation(lines: readonly Line[], line: number, cell: Cell): Cell | undefined {
  const here = lines[line];
  const next = lines[line + 1];
  if (here === undefined || next === undefined || next.cells.length !== 1) return undefined;
  const [under] = next.cells;
  return under !== undefined && Math.abs(under.x - cell.x) <= 2 && here.y - next.y <= 2 * here.size ? under : undefined;
}
