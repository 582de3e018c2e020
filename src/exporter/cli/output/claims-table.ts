import { grouped } from '../../../core/plurals.ts';
import { formatTable, type TerminalColumn, terminalColumns, widthOfTable } from '../../../core/terminal/table.ts';
import { CLAIMS, type ReportedClaims } from '../../../verifier/claims/claim.ts';

export const MARKS = { proved: '✓', refuted: '✗', unproved: '–', recorded: '?' } as const;

export interface ClaimRow {
  stream_id: string;
  status: string;
  entries: number;
  claims: ReportedClaims;
}

const NAME_COLUMNS = 48;
/** The columns of a name that are seen on any terminal. */
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
