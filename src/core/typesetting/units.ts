import type { Face, Style } from './fonts.ts';

/** The smallest piece of text that is never cut: a character, or the mark that stands for one. */
export interface Unit {
  text: string;
  face: Face;
  /** The text is the mark of a character that cannot be set. */
  isMark: boolean;
}

/**
 * Splits text into units, in its logical order. A character that no face of the style can set becomes a mark such as
 * `‹U+1F510›`: visible, selectable and unambiguous, where a missing-glyph box would be none of these.
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

/** In multiples of the font size. */
export function widthOfUnits(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.face.widthOf(unit.text), 0);
}
