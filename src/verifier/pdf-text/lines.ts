import type { Piece } from './text.ts';

/** Text that stands by itself in a line: a column apart from what is left and right of it. */
export interface TextCell {
  /** Left edge, in points. */
  x: number;
  text: string;
  /** Whether one text lies on another in it. */
  isOverprinted: boolean;
}

/** What stands on one baseline, from left to right. */
export interface PageLine {
  y: number;
  /** Of its type, in points. */
  size: number;
  cells: TextCell[];
}

/** In ems: less is the space between letters, more the space between columns. */
const WORD_GAP = 0.15;
const COLUMN_GAP = 1;
/** In ems: how far letters reach over each other where a font is narrow, and type made bold by printing it twice. */
const OVERLAP = 0.5;
const SAME_PLACE = 0.15;

/** Arranges text as a reader sees it, from top to bottom: the order in which a PDF draws it means nothing. */
export function toLines(pieces: readonly Piece[]): PageLine[] {
  const lines: Piece[][] = [];
  for (const piece of pieces.toSorted((a, b) => b.y - a.y)) {
    const line = lines.at(-1);
    const above = line?.[0];
    if (line !== undefined && above !== undefined && above.y - piece.y <= 0.3 * Math.min(above.size, piece.size))
      line.push(piece);
    else lines.push([piece]);
  }
  return lines.map(toLine);
}

function toLine(pieces: Piece[]): PageLine {
  const cells: TextCell[] = [];
  let end = Number.NEGATIVE_INFINITY;
  let before: Piece | null = null;
  for (const piece of pieces.toSorted((a, b) => a.x - b.x)) {
    const { text, x, width, size } = piece;
    if (before !== null && before.text === text && x - before.x <= SAME_PLACE * size) continue;
    before = piece;
    const cell = cells.at(-1);
    const gap = (x - end) / size;
    if (cell === undefined || gap > COLUMN_GAP) cells.push({ x, text, isOverprinted: false });
    else {
      cell.text += gap > WORD_GAP ? ` ${text}` : text;
      cell.isOverprinted ||= gap < -OVERLAP;
    }
    end = Math.max(end, x + width);
  }
  return {
    y: pieces[0]?.y ?? 0,
    size: pieces[0]?.size ?? 0,
    cells: cells.map((cell) => ({ ...cell, text: cell.text.replace(/\s+/g, ' ').trim() })),
  };
}
