import { type OutputLine, type Styled, styled } from './printer.ts';
import { columnsOf, narrowed } from './table.ts';

/** Word of running text, without surrounding blanks. */
interface Word {
  text: string;
  isBold: boolean;
}
type Line = readonly Word[];

interface Block {
  kind: 'heading' | 'code' | 'table' | 'item' | 'text';
  lines: string[];
}

const CODE_INDENT = '    ';
/** Gap between the columns of a table. */
const GAP = '  ';
/** Minimum width of a table column. */
const LEAST_COLUMN = 8;

/**
 * Renders Markdown as lines for a terminal: headings bold, code indented, tables fitted. Supports the parts of
 * CommonMark and its tables that help topics use: ATX headings, fenced code, lists of one level, tables, paragraphs,
 * bold words and links.
 *
 * @param width width of the terminal in columns. Code is never broken.
 * @param linkWords returns the text after a link for its target; empty for none.
 */
export function renderMarkdown(text: string, width: number, linkWords: (target: string) => string): OutputLine[] {
  const lines: OutputLine[] = [];
  let before: Block['kind'] | null = null;
  for (const block of blocksOf(text)) {
    const isNextItem = block.kind === 'item' && before === 'item';
    if (before !== null && !isNextItem) lines.push('');
    lines.push(...renderBlock(block, width, linkWords));
    before = block.kind;
  }
  return lines;
}

const LIST_ITEM = /^(- |\d+\. )/;

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  const begin = (kind: Block['kind'], line?: string) => {
    open = { kind, lines: line === undefined ? [] : [line] };
    blocks.push(open);
  };
  let isInCode = false;
  for (const line of text.trimEnd().split('\n')) {
    const current: Block | null = open;
    if (line.startsWith('```')) {
      if (isInCode) open = null;
      else begin('code');
      isInCode = !isInCode;
    } else if (isInCode) (current as Block | null)?.lines.push(line);
    else if (line.trim() === '') open = null;
    else if (/^#{1,6} /.test(line)) {
      begin('heading', line.replace(/^#+ /, ''));
      open = null;
    } else if (LIST_ITEM.test(line)) begin('item', line);
    else if (current === null) begin(line.startsWith('|') ? 'table' : 'text', line);
    else (current as Block).lines.push(line);
  }
  return blocks;
}

function renderBlock({ kind, lines }: Block, width: number, linkWords: (target: string) => string): OutputLine[] {
  const words = (text: string) => wordsOf(text, linkWords);
  if (kind === 'code') return lines.map((line) => (line === '' ? '' : `${CODE_INDENT}${line}`));
  if (kind === 'table') return renderTable(lines, width, words);
  const text = lines.map((line) => line.trim()).join(' ');
  if (kind === 'heading') return [[styled(text, 'bold')]];
  const mark = kind === 'item' ? (LIST_ITEM.exec(text)?.[0] ?? '') : '';
  const broken = wrap(words(text.slice(mark.length)), width - mark.length);
  return broken.map((line, index) => [index === 0 ? mark : ' '.repeat(mark.length), ...pieces(line)]);
}

/** Returns the words of running text; a link becomes its text, followed by words for its target. */
function wordsOf(text: string, linkWords: (target: string) => string): Word[] {
  const plain = text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_all, shown: string, target: string) => {
    const more = linkWords(target);
    return more === '' ? shown : `${shown} (${more})`;
  });
  return plain.split('**').flatMap((part, index) =>
    part
      .split(/(?<=\s)|(?=\s)/)
      .filter((word) => word !== '')
      .map((word) => ({ text: word, isBold: index % 2 === 1 })),
  );
}

/** Breaks words into lines of at most `width` columns. Cuts a longer word. */
function wrap(words: readonly Word[], width: number): Line[] {
  const lines: Word[][] = [[]];
  let used = 0;
  for (const unit of units(words)) {
    const size = columnsOf(textOf(unit));
    if (used > 0 && used + 1 + size > width) {
      lines.push([]);
      used = 0;
    }
    const line = lines.at(-1) ?? [];
    if (used > 0) line.push({ text: ' ', isBold: false });
    for (const [index, piece] of cut(unit, width).entries()) {
      if (index === 0) line.push(...piece);
      else lines.push([...piece]);
    }
    used = columnsOf(textOf(lines.at(-1) ?? []));
  }
  return lines;
}

/** Groups words between blanks: a unit may have several pieces, such as a bold word with a comma after it. */
function units(words: readonly Word[]): Line[] {
  const all: Word[][] = [];
  let isNew = true;
  for (const word of words) {
    const isBlank = word.text.trim() === '';
    if (!isBlank && isNew) all.push([word]);
    else if (!isBlank) all.at(-1)?.push(word);
    isNew = isBlank;
  }
  return all;
}

function cut(unit: Line, width: number): Line[] {
  const text = textOf(unit);
  if (columnsOf(text) <= width) return [unit];
  const isBold = unit.every((word) => word.isBold);
  const count = Math.ceil(text.length / width);
  return Array.from({ length: count }, (_, index) => [
    { text: text.slice(index * width, (index + 1) * width), isBold },
  ]);
}

function pieces(line: Line): (string | Styled)[] {
  return line.map(({ text, isBold }) => (isBold ? styled(text, 'bold') : text));
}

function renderTable(lines: readonly string[], width: number, words: (text: string) => Word[]): OutputLine[] {
  const [titles = [], , ...rows] = lines.map(cellsOf);
  const cells = [titles, ...rows].map((row) => titles.map((_title, index) => words(row[index] ?? '')));
  const widest = (index: number, measure: (cell: Line) => number) =>
    Math.max(...cells.map((row) => measure(row[index] ?? [])));
  const widths = fitted(
    titles.map((_title, index) => widest(index, (cell) => columnsOf(textOf(cell)))),
    titles.map((_title, index) => widest(index, longestWord)),
    width - GAP.length * (titles.length - 1),
  );
  const shown = cells.map((row) => renderRow(row, widths));
  const [head = [], ...body] = shown;
  const bold = head.map((line) => [styled(textOfLine(line), 'bold')]);
  return [...bold, widths.map((columns) => '─'.repeat(columns)).join(GAP), ...body.flat()];
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Returns column widths that fit the available width: the widest columns shrink first, and words are broken last. */
function fitted(wanted: readonly number[], words: readonly number[], available: number): number[] {
  const whole = narrowed(
    wanted,
    words.map((word) => Math.max(word, LEAST_COLUMN)),
    total(wanted) - available,
  );
  return narrowed(
    whole,
    words.map(() => LEAST_COLUMN),
    total(whole) - available,
  );
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function longestWord(cell: Line): number {
  return Math.max(0, ...units(cell).map((unit) => columnsOf(textOf(unit))));
}

function renderRow(row: readonly Line[], widths: readonly number[]): (string | Styled)[][] {
  const columns = row.map((cell, index) => wrap(cell, widths[index] ?? LEAST_COLUMN));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const line = columns.flatMap((lines, index) => {
      const cell = lines[at] ?? [];
      const isLast = index === columns.length - 1;
      const space = isLast ? 0 : (widths[index] ?? 0) - columnsOf(textOf(cell)) + GAP.length;
      return [...pieces(cell), ' '.repeat(Math.max(0, space))];
    });
    return line.some((piece) => typeof piece !== 'string') ? line : [line.join('').trimEnd()];
  });
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join('');
}

function textOfLine(line: readonly (string | Styled)[]): string {
  return line.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
}
