import type { Box } from './geometry.ts';

/** A glyph as pdf.js hands it over. */
export interface Glyph {
  unicode: string;
  /** Of glyph space. */
  width: number;
  isSpace: boolean;
  /** The character of the font program by which it is drawn. */
  fontChar: string;
  /** False where the font program has no letter for it, and readers draw nothing. */
  isInFont: boolean;
}

export interface Font {
  /** Of glyph space, e.g. 0.001. */
  scale: number;
  isVertical: boolean;
  /** Why its letters may not look like what they stand for; null where nothing speaks against it. */
  unseen: string | null;
  /** What a glyph draws, in ems from its origin; null where it can be anything. */
  inkOf(glyph: Glyph): Box | null;
  /** Whether a glyph draws one letter, of a letter's size and place. */
  isPlain(glyph: Glyph): boolean;
}

/** A font as pdf.js describes it. */
export interface FontSource {
  fontMatrix?: number[];
  vertical?: boolean;
  isType3Font?: boolean;
  /** Of a font that is not embedded: every reader has one of its own for it. */
  missingFile?: boolean;
}

interface Outline {
  box: Box;
  /** In square ems. */
  area: number;
}

const NOTHING: Outline = { box: { left: 0, bottom: 0, right: 0, top: 0 }, area: 0 };
/** In ems: how far any letter reaches below and above its baseline. */
const [DESCENT, ASCENT] = [-0.25, 0.95];
/** In ems: of one letter. */
const MOST_WIDTH = 1.5;
/** In ems: letters of other scripts reach so far out of their place. */
const LETTER: Box = { left: -0.4, bottom: -0.6, right: 0.4, top: 1.4 };
const LEAST_HEIGHT = 0.3;
const LEAST_SIDE = 0.03;
/** In square ems: a point has more. */
const LEAST_AREA = 0.002;
/** Of glyph space in ems: 1/2048 is usual besides 1/1000. */
const [LEAST_SCALE, MOST_SCALE] = [0.0004, 0.0011];

/** @param pathOf what the font program draws for one of its characters, as numbers of pdf.js, in ems. */
export function toFont(source: FontSource, pathOf: (fontChar: string) => ArrayLike<number> | null): Font {
  const { fontMatrix = [0.001, 0, 0, 0.001, 0, 0], missingFile = false, isType3Font = false } = source;
  const outlines = new Map<string, Outline | null>();
  const outlineOf = ({ fontChar, isInFont }: Glyph): Outline | null => {
    if (!isInFont) return NOTHING;
    const known = outlines.get(fontChar);
    if (known !== undefined) return known;
    const path = isType3Font || missingFile ? null : pathOf(fontChar);
    const outline = path === null ? null : toOutline(path);
    outlines.set(fontChar, outline);
    return outline;
  };
  const scale = fontMatrix[0] ?? 0.001;
  const usual: Omit<Font, 'inkOf' | 'isPlain'> = {
    scale,
    isVertical: source.vertical === true,
    unseen: isType3Font || !isUsual(fontMatrix) ? 'in a font of drawings' : null,
  };
  if (missingFile)
    return {
      ...usual,
      inkOf: ({ width }) => ({ left: 0, bottom: DESCENT, right: Math.max(0, width * scale), top: ASCENT }),
      isPlain: ({ unicode, fontChar, width }) =>
        isOneLetter(unicode) && letters(fontChar) === letters(unicode) && width * scale <= MOST_WIDTH,
    };
  return {
    ...usual,
    inkOf: (glyph) => outlineOf(glyph)?.box ?? null,
    isPlain: (glyph) => {
      const outline = outlineOf(glyph);
      return outline !== null && isOneLetter(glyph.unicode) && couldBe(glyph, outline, scale);
    },
  };
}

function isUsual([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: readonly number[]): boolean {
  return a >= LEAST_SCALE && a <= MOST_SCALE && Math.abs(d / a - 1) < 0.1 && [b, c, e, f].every((part) => part === 0);
}

/** Or one ligature, which has no digits. */
function isOneLetter(unicode: string): boolean {
  const count = [...unicode.normalize('NFC')].length;
  return count === 1 || (count <= 4 && /^\p{L}[\p{L}\p{M}]*$/u.test(unicode));
}

function letters(unicode: string): string {
  return unicode.normalize('NFKC');
}

function couldBe({ unicode, width }: Glyph, { box, area }: Outline, scale: number): boolean {
  if (/^\s$/u.test(unicode)) return area === 0;
  if (/^[\p{Cf}\p{Cc}]$/u.test(unicode)) return false;
  const { left, bottom, right, top } = box;
  const isInPlace =
    left >= LETTER.left &&
    bottom >= LETTER.bottom &&
    Math.abs(width * scale - right) <= LETTER.right &&
    top <= LETTER.top;
  if (/^\p{M}/u.test(unicode)) return area > LEAST_AREA;
  const isTall = !/^[0-9A-Za-z]/.test(unicode) || (top - bottom >= LEAST_HEIGHT && right - left >= LEAST_SIDE);
  return isInPlace && isTall && area > LEAST_AREA;
}

/** Numbers that follow each code of a path of pdf.js: move, line, curve, quadratic curve, close. */
const POINTS = [2, 2, 6, 4, 0];

/** Its curves go through their control points here, which is near enough. */
function toOutline(path: ArrayLike<number>): Outline {
  const box = { left: Infinity, bottom: Infinity, right: -Infinity, top: -Infinity };
  let area = 0;
  let [x, y, startX, startY] = [0, 0, 0, 0];
  const go = (toX: number, toY: number) => {
    area += (x * toY - toX * y) / 2;
    [x, y] = [toX, toY];
  };
  for (let at = 0; at < path.length; ) {
    const code = path[at++] ?? -1;
    const count = POINTS[code] ?? 0;
    if (code === 0 || code === 4) go(startX, startY);
    for (let point = at; point < at + count; point += 2) {
      const [toX = 0, toY = 0] = [path[point], path[point + 1]];
      if (code === 0) [x, y, startX, startY] = [toX, toY, toX, toY];
      else go(toX, toY);
      box.left = Math.min(box.left, toX);
      box.bottom = Math.min(box.bottom, toY);
      box.right = Math.max(box.right, toX);
      box.top = Math.max(box.top, toY);
    }
    at += count;
  }
  go(startX, startY);
  return box.left > box.right ? NOTHING : { box, area: Math.abs(area) };
}
