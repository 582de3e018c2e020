import { escapeControls } from './visible.ts';

export interface TerminalColumn {
  title: string;
  align?: 'left' | 'right' | 'centre';
  /** Longer cells are cut in their middle. */
  max?: number;
  /** Keeps a text whole that would say nothing once it is cut. */
  isUncut?: boolean;
}

/** A plain table for a terminal: two spaces between columns, a rule below the titles. */
export function formatTable(columns: readonly TerminalColumn[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) =>
    columns.map((column, index) => shorten(escapeControls(row[index] ?? ''), column.max)),
  );
  const widths = columns.map((column, index) =>
    Math.max(columnsOf(column.title), ...cells.map((row) => columnsOf(row[index] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    columns
      .map((column, index) => pad(row[index] ?? '', widths[index] ?? 0, column.align ?? 'left'))
      .join('  ')
      .trimEnd();
  const rule = widths.map((length) => '─'.repeat(length)).join('  ');
  return [line(columns.map((column) => column.title)), rule, ...cells.map(line)].join('\n');
}

/** The rule below the titles is as wide as the table. */
export function widthOfTable(table: string): number {
  return table.split('\n', 2)[1]?.length ?? 0;
}

/** Columns that are cut show so much of their cells at least. */
const LEAST_COLUMNS = 12;

/**
 * The table in the room that there is: where it is too wide, its widest columns of text are cut in the middle of their
 * cells, as far as can still be read. What goes elsewhere than to a terminal is whole.
 */
export function fitTable(
  columns: readonly TerminalColumn[],
  rows: readonly (readonly string[])[],
  room = terminalColumns(),
): string {
  const whole = formatTable(columns, rows);
  const excess = widthOfTable(whole) - room;
  if (excess <= 0) return whole;
  const widths = (whole.split('\n', 2)[1] ?? '').split('  ').map((rule) => rule.length);
  const leastOf = columns.map(({ title, align = 'left', isUncut = false }, index) =>
    align === 'left' && !isUncut ? Math.max(LEAST_COLUMNS, columnsOf(title)) : (widths[index] ?? 0),
  );
  const fitted = narrowed(widths, leastOf, excess);
  return formatTable(
    columns.map((column, index) => ({ ...column, max: fitted[index] ?? 0 })),
    rows,
  );
}

/**
 * Widths of columns, narrower by so much in all, as far as what each has at least allows: the widest give way first.
 */
export function narrowed(wanted: readonly number[], leastOf: readonly number[], excess: number): number[] {
  const widths = [...wanted];
  for (let left = excess; left > 0; left--) {
    const spare = widths.map((width, index) => (width > (leastOf[index] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    widths[spare.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** The width of the output. Outside a terminal there is no limit; a terminal may say that it has 0 columns. */
export function terminalColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/** Text from outside as one line on the terminal of stderr, which is to be taken away: a line that wraps would stay. */
export function liveLine(text: string): string {
  // A terminal may say that it has 0 columns: it does not know.
  return shorten(escapeControls(text), (process.stderr.columns || 80) - 1);
}

function shorten(text: string, max = Number.POSITIVE_INFINITY): string {
  if (columnsOf(text) <= max) return text;
  const signs = [...text];
  const half = Math.floor((max - 1) / 2);
  const end = fitting(signs.toReversed(), half).toReversed();
  return `${fitting(signs, half).join('')}…${end.join('')}`;
}

/** As many of the signs as fit into the columns. */
function fitting(signs: readonly string[], columns: number): readonly string[] {
  let taken = 0;
  const first = signs.findIndex((sign) => {
    taken += columnsOf(sign);
    return taken > columns;
  });
  return first === -1 ? signs : signs.slice(0, first);
}

function pad(text: string, length: number, align: NonNullable<TerminalColumn['align']>): string {
  const space = Math.max(0, length - columnsOf(text));
  if (align === 'right') return ' '.repeat(space) + text;
  if (align === 'centre') return ' '.repeat(Math.floor(space / 2)) + text + ' '.repeat(Math.ceil(space / 2));
  return text + ' '.repeat(space);
}

/** Columns on a terminal: two for East Asian wide signs and emoji, none for combining ones. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const sign of text)
    columns += /\p{M}/u.test(sign)
      ? 0
      : /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/u.test(
            sign,
          )
        ? 2
        : 1;
  return columns;
}

/** True if lines on stderr can be taken back: it is a terminal, and not one that knows no commands. */
export function canTakeBack(): boolean {
  return process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';
}
