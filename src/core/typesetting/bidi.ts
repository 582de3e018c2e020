import bidiModule, { type Bidi } from 'bidi-js';
import { lazy } from '../lazy.ts';
import type { Face } from './fonts.ts';
import { type Unit, type WrappedLine, widthOfUnits } from './wrap.ts';

/** Piece of a line in one face, as passed to the font. The runs of a line are ordered from left to right. */
export interface FaceRun {
  text: string;
  face: Face;
  isMark: boolean;
  /** True if the font must lay out the characters together: they join, and run from right to left. */
  isShaped: boolean;
  /** Width in multiples of the font size. */
  width: number;
}

/** Arabic letters, and tatweel, which belongs to no script but joins them. */
const SHAPED_RIGHT_TO_LEFT = /^[\p{Script=Arabic}\u0640]$/u;
const HEBREW = /^\p{Script=Hebrew}$/u;
/** Placeholder for a mark while the order is computed: neutral, like an object in the text. */
const OBJECT = '\uFFFC';

/** The module is the factory itself; its types describe the transpiled form with a `default` member. */
const bidi = lazy(bidiModule as unknown as () => Bidi);

/** Returns the runs of a line in visual order, by the Unicode Bidirectional Algorithm (UAX #9) over its paragraph. */
export function toRuns(units: readonly Unit[], line: WrappedLine): FaceRun[] {
  const isMixed = units.some((unit) => scriptOf(unit) !== 'other');
  return toFontRuns(isMixed ? visualOrder(units, line) : units.slice(line.from, line.to));
}

function visualOrder(units: readonly Unit[], line: WrappedLine): Unit[] {
  const algorithm = bidi();
  // One code unit per unit, so that positions in the text are positions in `units`.
  const text = units
    .map((unit) => (unit.isMark ? OBJECT : unit.text.length === 1 ? unit.text : astralStandIn(unit)))
    .join('');
  const levels = algorithm.getEmbeddingLevels(text);
  const order = Array.from({ length: line.to - line.from }, (_, index) => line.from + index);
  for (const [start = 0, end = 0] of algorithm.getReorderSegments(text, levels, line.from, line.to - 1)) {
    const flipped = order.slice(start - line.from, end - line.from + 1).reverse();
    order.splice(start - line.from, flipped.length, ...flipped);
  }
  const mirrorOf = (index: number): string | null =>
    (levels.levels[index] ?? 0) % 2 === 1 ? (algorithm.getMirroredCharacter(text.charAt(index)) ?? null) : null;
  return order.flatMap((index) => {
    const unit = units[index];
    return unit === undefined ? [] : [{ ...unit, text: unit.isMark ? unit.text : (mirrorOf(index) ?? unit.text) }];
  });
}

/**
 * Returns a stand-in for a character beyond U+FFFF: no such letter that is set runs from right to left (see
 * `isSettable`).
 */
function astralStandIn(unit: Unit): string {
  return /^\p{L}$/u.test(unit.text) ? 'a' : OBJECT;
}

/** Joins units that the font can set at once. */
function toFontRuns(visual: readonly Unit[]): FaceRun[] {
  const groups: Unit[][] = [];
  for (const unit of visual) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && isSameRun(last, unit)) group.push(unit);
    else groups.push([unit]);
  }
  return groups.flatMap((group): FaceRun[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { face, isMark } = first;
    if (scriptOf(first) === 'other')
      return [{ text: textOf(group), face, isMark, isShaped: false, width: widthOfUnits(group) }];
    // fontkit takes Hebrew and Arabic in logical order, and shapes and reorders them itself.
    const text = textOf(group.toReversed());
    return [{ text, face, isMark, isShaped: true, width: face.widthOf(text) }];
  });
}

function textOf(units: readonly Unit[]): string {
  return units.map((unit) => unit.text).join('');
}

function isSameRun(a: Unit, b: Unit): boolean {
  return !a.isMark && !b.isMark && a.face === b.face && scriptOf(a) === scriptOf(b);
}

function scriptOf(unit: Unit): 'arabic' | 'hebrew' | 'other' {
  if (unit.isMark) return 'other';
  if (SHAPED_RIGHT_TO_LEFT.test(unit.text)) return 'arabic';
  return HEBREW.test(unit.text) ? 'hebrew' : 'other';
}
