import type { Face, Style } from './fonts.ts';

/** Smallest piece of text, which is never cut: a character, or the mark that replaces it. */
export interface Unit {
  text: string;
  face: Face;
  /** True if the text is the mark of a character that cannot be set. */
  isMark: boolean;
}

/**
 * Splits text into units, in logical order. A character that no face of the style can set becomes a mark such as
 * `‹U+1F510›`, which is visible, selectable and unambiguous, unlike a missing-glyph box.
 */
export function toUnits(text: string, style: Style): Unit[] {
  const [first] = style;
  if (first === undefined) return [];
  // Composed, é is one glyph; decomposed, its accent would need positioning.
  return Array.from(text.toWellFormed().normalize('NFC'), (character) => {
    const face = style.find((candidate) => candidate.covers(character));
    return face === undefined
      ? { text: markOf(character), face: first, isMark: true }
      : { text: character, face, isMark: false };
  });
}

function markOf(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `‹U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** Returns a width in multiples of the font size. */
export function widthOfUnits(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.face.widthOf(unit.text), 0);
}

/** Characters after which a line may end, as in `arn:aws:s3:::bucket/key`; it ends elsewhere only if it must. */
const BREAK_AFTER = /^[\s/:.,;@=&?_-]$/;

/** Line of a paragraph: its units `from` (inclusive) to `to` (exclusive). */
export interface WrappedLine {
  from: number;
  to: number;
  /** True if the paragraph continues beyond the available room; an ellipsis ends this line. */
  isCut: boolean;
}

/**
 * Breaks a paragraph into lines.
 *
 * @param width of a line, in multiples of the font size.
 * @param ellipsisWidth room kept free at the end of the last line if not all fits into `maxLines`.
 */
export function wrap(units: readonly Unit[], width: number, maxLines: number, ellipsisWidth: number): WrappedLine[] {
  const lines: WrappedLine[] = [];
  let from = 0;
  while (from < units.length) {
    const to = endOfLine(units, from, width);
    if (lines.length === maxLines - 1 && to < units.length) {
      lines.push({ from, to: endThatFits(units, from, width - ellipsisWidth), isCut: true });
      return lines;
    }
    lines.push({ from, to: withoutTrailingSpace(units, from, to), isCut: false });
    from = to;
    while (units[from]?.text === ' ') from++;
  }
  return lines;
}

function endOfLine(units: readonly Unit[], from: number, width: number): number {
  const to = endThatFits(units, from, width);
  if (to === units.length || units[to]?.text === ' ') return to;
  for (let end = to; end > from + 1; end--) {
    if (BREAK_AFTER.test(units[end - 1]?.text ?? '') && !isInNumber(units, end - 1)) return end;
  }
  return to;
}

/** Reports whether a sign is inside a time or an amount, such as 12:09:54.653 or 1,461, which is not broken. */
function isInNumber(units: readonly Unit[], at: number): boolean {
  return [units[at - 1], units[at + 1]].every((unit) => unit !== undefined && /^\d$/.test(unit.text));
}

/** Drops the space at the end of a line, which would move a line from right to left away from its margin. */
function withoutTrailingSpace(units: readonly Unit[], from: number, to: number): number {
  let end = to;
  while (end > from && units[end - 1]?.text === ' ') end--;
  return end;
}

/** Returns the end of the units that fit; at least one, so that a width that is too small cannot stop the paragraph. */
function endThatFits(units: readonly Unit[], from: number, width: number): number {
  let end = from;
  let used = 0;
  for (; end < units.length; end++) {
    used += widthOfUnits(units.slice(end, end + 1));
    if (used > width && end > from) return end;
  }
  return end;
}
