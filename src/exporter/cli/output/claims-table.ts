import { formatTable, type TerminalColumn } from '../../../core/terminal/table.ts';
import { escapeControls } from '../../../core/terminal/visible.ts';
import { grouped, plural } from '../../../core/words.ts';
import { CLAIMS, type ClaimName, type ReportedClaim, type ReportedClaims } from '../../../verifier/claims/claim.ts';

const MARKS = { proved: '✓', refuted: '✗', unproved: '–', recorded: '?' } as const;

export interface ClaimRow {
  stream_id: string;
  status: string;
  entries: number;
  claims: ReportedClaims;
}

const NAME_COLUMNS = 48;
/** Of a name this much is seen on any terminal. */
const LEAST_NAME_COLUMNS = 16;

/** The closing table: streams × claims. @param columns of the terminal; where it is too narrow, claims stand as marks. */
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

/** The rule below the titles is as wide as the table. */
function widthOfTable(table: string): number {
  return table.split('\n', 2)[1]?.length ?? 0;
}

/** What goes elsewhere than to a terminal is as wide as it is. A terminal may say that it has 0 columns. */
function terminalColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/** What the marks mean; why what is unproved is, and where a proof ends: each once, with the number of its streams. */
export function formatLegend(rows: readonly ClaimRow[]): string {
  const isOpened = rows.every(({ claims }) => CLAIMS.every((name) => claims[name].state !== 'recorded'));
  const lines = [`✓ proved   ✗ refuted   – unproved${isOpened ? '' : '   ? recorded, not derived here'}`];
  for (const name of CLAIMS) {
    const remarks = Map.groupBy(
      rows.map(({ claims }) => remarkOn(name, claims[name])),
      (remark) => remark,
    );
    remarks.delete(null);
    const listed = [...remarks].slice(0, REASONS_SHOWN);
    for (const [remark, streams] of listed)
      lines.push(`${escapeControls(remark ?? '')} (${plural(streams.length, 'stream')})`);
    if (remarks.size > listed.length) lines.push(`– ${name}: and ${remarks.size - listed.length} other reasons`);
    if (name === 'anchor') lines.push(...sayUnanchored(rows));
  }
  return lines.join('\n');
}

/** How many entries a proved anchor says nothing about. */
function sayUnanchored(rows: readonly ClaimRow[]): string[] {
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

function remarkOn(name: ClaimName, claim: ReportedClaim): string | null {
  const { state, basis, recorded, reason = 'no reason is recorded', not_covered, by_contract } = claim;
  if (state === 'recorded') return `${MARKS.recorded} ${name}: ${reason}`;
  if (state === 'unproved')
    return `${MARKS.unproved} ${name}: ${recorded === undefined ? '' : `recorded as ${recorded}, not checked here: `}${reason}`;
  const remarks = [
    // Which forms agree, and on what: a form that could not be read proves nothing.
    ...(name === 'agreement' && state === 'proved' && basis !== undefined ? [basis] : []),
    ...(by_contract === undefined ? [] : [by_contract]),
    ...(not_covered === undefined ? [] : [`digests do not cover ${not_covered.join(', ')}`]),
  ];
  return remarks.length === 0 ? null : `${MARKS[state]} ${name}: ${remarks.join('; ')}`;
}

const REASONS_SHOWN = 5;
