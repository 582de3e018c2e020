import { startsWithLabel } from './labels.ts';
import type { PageLine, TextCell } from './lines.ts';

/** A heading above facts that says they are of something else, or of a part. */
const OF_ANOTHER =
  /\b(?:actors?|users?|actions?|resources?|types?|days?|pages?|checkpoints?|previous|earlier|prior|next|account|stream|overall|cumulative|per|by|each|other|all)\b/i;
/** Lines between such a heading and what it is over. */
const HEADING_WITHIN = 12;

/** The nearest line above that states no fact; empty where there is none. */
export function headingOf(
  lines: readonly PageLine[],
  line: number,
  isHeading = (_: readonly TextCell[]) => true,
): string {
  for (let at = line - 1; at >= Math.max(0, line - HEADING_WITHIN); at--) {
    const cells = lines[at]?.cells ?? [];
    const [first] = cells;
    if (first === undefined || startsWithLabel(first.text)) continue;
    // A value that goes on, e.g. a digest.
    if (cells.length === 1 && (looksMade(first.text) || /^[0-9a-f]{8,}$/i.test(first.text))) continue;
    if (isHeading(cells)) return first.text;
  }
  return '';
}

export function hasNoValue(cells: readonly TextCell[]): boolean {
  return cells.length === 1 && !/[:=]/.test(cells[0]?.text ?? '');
}

/** Whether a heading names something else than the package. */
export function isOfAnother(heading: string): boolean {
  return OF_ANOTHER.test(heading) && !/\b(?:this|evidence) package\b/i.test(heading);
}

/** Letters and digits in one long run, as no word of a heading is. */
export function looksMade(id: string): boolean {
  return id.length >= 12 && /^\S+$/.test(id) && /\d/.test(id) && /[a-z]/i.test(id);
}
