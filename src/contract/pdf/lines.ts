/** Text that stands by itself in a line: a column apart from what is left and right of it. */
export interface Cell {
  /** Left edge, in points. */
  x: number;
  text: string;
}

/** What stands on one baseline, from left to right. */
export interface Line {
  y: number;
  /** Of its type, in points. */
  size: number;
  cells: Cell[];
}

interface Piece {
  text: string;
  x: number;
  y: number;
  width: number;
  size: number;
}

/** In ems: less is the space between letters, more the space between columns. */
const WORD_GAP = 0.15;
const COLUMN_GAP = 1;

/**
 * Arranges the pieces of text of a page as a reader sees them, from top to bottom: the order in which a PDF draws them
 * means nothing. Text that does not run from left to right is left out.
 * @param items as pdf.js gives them: `{str, transform, width, height}`, y upwards.
 */
export function toLines(items: readonly unknown[]): Line[] {
  const pieces = items.flatMap(toPiece).toSorted((a, b) => b.y - a.y);
  const lines: Piece[][] = [];
  for (const piece of pieces) {
    const line = lines.at(-1);
    const above = line?.[0];
    if (line !== undefined && above !== undefined && above.y - piece.y <= 0.3 * Math.min(above.size, piece.size))
      line.push(piece);
    else lines.push([piece]);
  }
  return lines.map(toLine);
}

function toPiece(item: unknown): Piece[] {
  const { str, transform, width, height } = item as Record<string, unknown>;
  if (typeof str !== 'string' || str.trim() === '' || !Array.isArray(transform)) return [];
  const [, slope, , , x, y] = transform as unknown[];
  if (typeof x !== 'number' || typeof y !== 'number' || typeof width !== 'number' || typeof height !== 'number')
    return [];
  if (slope !== 0 || !Number.isFinite(x + y + width + height) || height <= 0) return [];
  return [{ text: str, x, y, width, size: height }];
}

function toLine(pieces: Piece[]): Line {
  const cells: Cell[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const { text, x, width, size } of pieces.toSorted((a, b) => a.x - b.x)) {
    const cell = cells.at(-1);
    const gap = (x - end) / size;
    if (cell === undefined || gap > COLUMN_GAP) cells.push({ x, text });
    else cell.text += gap > WORD_GAP ? ` ${text}` : text;
    end = Math.max(end, x + width);
  }
  return {
    y: pieces[0]?.y ?? 0,
    size: pieces[0]?.size ?? 0,
    cells: cells.map(({ x, text }) => ({ x, text: text.replace(/\s+/g, ' ').trim() })),
  };
}
