import { escapeControls } from './visible.ts';

export interface TerminalColumn {
  title: string;
  align?: 'left' | 'right' | 'centre';
  /** Maximum width; longer cells are cut in the middle. */
  max?: number;
  /** True to never cut a text that would be meaningless if cut. */
  isUncut?: boolean;
}

/** Formats a plain table for a terminal: two spaces between columns, a rule below the titles. */
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

/** Returns the width of a table, which equals that of the rule below the titles. */
export function widthOfTable(table: string): number {
  return table.split('\n', 2)[1]?.length ?? 0;
}

/** Minimum width of a column that is cut. */
const LEAST_COLUMNS = 12;

/**
 * Formats a table for the available width: if it is too wide, the cells of its widest text columns are cut in the
 * middle, as far as they stay readable. Output that does not go to a terminal is not cut.
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

/** Returns column widths reduced by `excess` in total, the widest first, as far as the minimum widths allow. */
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

/** Returns the width of the output: unlimited outside of a terminal, 80 if a terminal reports 0 columns. */
export function terminalColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * Returns text from outside as one line for the terminal of stderr. The line must not wrap, or it could not be erased.
 */
export function liveLine(text: string): string {
  // A terminal that does not know its width may report 0 columns.
  return shorten(escapeControls(text), (process.stderr.columns || 80) - 1);
}

function shorten(text: string, max = Number.POSITIVE_INFINITY): string {
  if (columnsOf(text) <= max) return text;
  const signs = [...text];
  const half = Math.floor((max - 1) / 2);
  const end = fitting(signs.toReversed(), half).toReversed();
  return `${fitting(signs, half).join('')}…${end.join('')}`;
}

/** Returns as many of the characters as fit into the columns. */
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

/** Returns the columns that a text takes: two for East Asian wide characters and emoji, none for combining ones. */
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

/** Reports whether lines on stderr can be erased: it is a terminal, and not a dumb one. */
export function canTakeBack(): boolean {
  return process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';
}
