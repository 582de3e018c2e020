import { grouped, plural } from '../../../core/plurals.ts';
import { firstOf, type Rows } from '../../../core/rows/rows.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { formatTable, type TerminalColumn, terminalColumns, widthOfTable } from '../../../core/terminal/table.ts';
import { escapeControls } from '../../../core/terminal/visible.ts';
import { CLAIMS, type ClaimName, type ReportedClaim, type ReportedClaims } from '../../../verifier/claims/claim.ts';

/** Number of streams that are all listed. For more, streams without problems are only counted. */
const FEW = 24;
const SHOWN = 50;

/** Statuses of streams that need no attention. */
const WELL: ReadonlySet<string> = new Set(['verified', 'collected', 'empty', 'recorded']);

/** Prints the table of streams and claims, with remarks on the claims; with `--verbose` for every stream. */
export function printStreamsTable(rows: Rows<ClaimRow>, printer: Printer): void {
  if (rows.length === 0) return;
  const isWhole = printer.verbose || rows.length <= FEW;
  const shown = isWhole
    ? [...rows]
    : firstOf(
        rows.filter(({ status }) => !WELL.has(status)),
        SHOWN,
      );
  const parts = [
    ...(shown.length > 0 ? [formatClaims(shown)] : []),
    ...(shown.length < rows.length ? [sayLeftOut(rows, shown)] : []),
    `${formatLegend(rows)}\n`,
  ];
  printer.block(parts.join('\n\n'));
}

/** Counts the omitted streams by status. */
function sayLeftOut(rows: Rows<ClaimRow>, shown: readonly ClaimRow[]): string {
  const left = countByStatus(rows);
  for (const [status, count] of countByStatus(shown)) left.set(status, (left.get(status) ?? 0) - count);
  const counts = [...left].filter(([, count]) => count > 0).map(([status, count]) => `${grouped(count)} ${status}`);
  const stream = shown.length === 0 ? 'stream' : 'more stream';
  return `${plural(rows.length - shown.length, stream)}: ${counts.join(', ')}. --verbose lists all.`;
}

function countByStatus(rows: Iterable<ClaimRow>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

export const MARKS = { proved: '✓', refuted: '✗', unproved: '–', recorded: '?' } as const;

export interface ClaimRow {
  stream_id: string;
  status: string;
  entries: number;
  claims: ReportedClaims;
}

const NAME_COLUMNS = 48;
/** Columns for names that fit on any terminal. */
const LEAST_NAME_COLUMNS = 16;

/**
 * Formats the table of streams and claims. @param columns of the terminal; if it is too narrow, claims are shown as
 * marks.
 */
export function formatClaims(rows: readonly ClaimRow[], columns = terminalColumns()): string {
  const wide = toTable(rows, CLAIMS, (claims) => CLAIMS.map((name) => MARKS[claims[name].state]), NAME_COLUMNS);
  if (widthOfTable(wide) <= columns) return wide;
  const marks = (claims: ReportedClaims) => [CLAIMS.map((name) => MARKS[claims[name].state]).join(' ')];
  const nameless = widthOfTable(toTable(rows, ['claims'], marks, 0)) - 'stream'.length;
  const room = Math.max(LEAST_NAME_COLUMNS, Math.min(NAME_COLUMNS, columns - nameless));
  return `${toTable(rows, ['claims'], marks, room)}\n\nclaims: ${CLAIMS.join(', ')}`;
}

function toTable(
  rows: readonly ClaimRow[],
  titles: readonly string[],
  cellsOf: (claims: ReportedClaims) => string[],
  max: number,
): string {
  return formatTable(
    [
      { title: 'stream', max },
      { title: 'entries', align: 'right' },
      ...titles.map((title): TerminalColumn => ({ title, align: 'centre' })),
      { title: 'status' },
    ],
    rows.map(({ stream_id, entries, claims, status }) => [stream_id, grouped(entries), ...cellsOf(claims), status]),
  );
}

const REASONS_SHOWN = 5;

/**
 * Explains the marks, the reasons of unproved claims, and the limits of proofs: each once, with the number of streams.
 * Claims with the same remark are grouped.
 */
export function formatLegend(rows: Rows<ClaimRow>): string {
  const isOpened = rows.every(({ claims }) => CLAIMS.every((name) => claims[name].state !== 'recorded'));
  const lines = [`✓ proved   ✗ refuted   – unproved${isOpened ? '' : '   ? recorded, not checked here'}`];
  const remarks = CLAIMS.flatMap((name) => remarksOn(name, rows));
  const same = Map.groupBy(remarks, ({ mark, says }) => `${mark} ${says}`);
  for (const [first, ...others] of same.values())
    if (first !== undefined)
      lines.push(
        escapeControls(`${first.mark} ${[first, ...others].map(({ name }) => name).join(', ')}: ${first.says}`),
      );
  return [...lines, ...sayUnanchored(rows)].join('\n');
}

/** Returns the remarks on one claim. */
function remarksOn(name: ClaimName, rows: Rows<ClaimRow>) {
  const counts = new Map<string, { mark: string; text: string; streams: number }>();
  for (const { claims } of rows) {
    const text = remarkOn(name, claims[name]);
    const mark = MARKS[claims[name].state];
    if (text === null) continue;
    const counted = counts.get(`${mark} ${text}`) ?? { mark, text, streams: 0 };
    counts.set(`${mark} ${text}`, { ...counted, streams: counted.streams + 1 });
  }
  const shown = [...counts.values()].slice(0, REASONS_SHOWN);
  const left = counts.size - shown.length;
  return [
    ...shown.map(({ mark, text, streams }) => ({ mark, name, says: `${text} (${plural(streams, 'stream')})` })),
    ...(left > 0 ? [{ mark: MARKS.unproved, name, says: `and ${left} more reasons` }] : []),
  ];
}

function remarkOn(name: ClaimName, claim: ReportedClaim): string | null {
  const { state, basis, recorded, reason = 'no reason is recorded', not_covered, by_contract } = claim;
  if (state === 'recorded') return reason;
  if (state === 'unproved')
    return recorded === undefined ? reason : `recorded as ${recorded}, not checked here: ${reason}`;
  const remarks = [
    // Shows the forms that agree and in what, because an unreadable form proves nothing.
    ...(name === 'agreement' && state === 'proved' && basis !== undefined ? [basis] : []),
    ...(by_contract === undefined ? [] : [by_contract]),
    ...(not_covered === undefined ? [] : [`digests do not cover ${not_covered.join(', ')}`]),
  ];
  return remarks.length === 0 ? null : remarks.join('; ');
}

/** Counts the entries that a proved anchor does not cover. */
function sayUnanchored(rows: Rows<ClaimRow>): string[] {
  const open = rows.flatMap(({ stream_id, claims: { anchor } }) => {
    const { state, anchored_through: through, entries_after_last_anchor: after = 0 } = anchor;
    return state === 'proved' && after > 0 ? [{ stream_id, through, after }] : [];
  });
  if (open.length === 0) return [];
  const entries = open.reduce((sum, { after }) => sum + after, 0);
  const named = open
    .slice(0, REASONS_SHOWN)
    .map(({ stream_id, through, after }) => `${grouped(after)} in ${stream_id}, after entry ${through}`);
  const more = open.length > named.length ? ` and ${plural(open.length - named.length, 'other stream')}` : '';
  const where = `${plural(entries, 'entry')} in ${plural(open.length, 'stream')}`;
  return [escapeControls(`${MARKS.proved} anchor: time-stamps do not cover ${where}: ${named.join('; ')}${more}`)];
}

/** Styles of the outcome of a stream or a run. */
export const OUTCOME_STYLES = {
  verified: 'green',
  collected: 'yellow',
  refuted: 'red',
  incomplete: 'yellow',
  empty: 'yellow',
  recorded: 'yellow',
} as const;
