import type { Font, Glyph } from './font.ts';
import type { Box } from './geometry.ts';

/** Letters that one operator draws without a gap between them, along their baseline. */
export interface LetterRun {
  text: string;
  start: number;
  end: number;
  /** Around all that is drawn, from the baseline's origin; null where that can be anything. */
  ink: Box | null;
}

export interface Laid {
  runs: LetterRun[];
  end: number;
  /** Why its letters may not be read in their order and shape; null where nothing speaks against it. */
  unseen: string | null;
}

export interface TextState {
  font: Font;
  fontSize: number;
  charSpacing: number;
  wordSpacing: number;
}

/** In ems: a gap that is a space. */
const SPACE = 0.15;
/** In ems, from one letter or digit to the next: less sets them over each other, or in another order. */
const LEAST_STEP = 0.15;
const LEAST_DIGIT_STEP = 0.35;

/** Where one operator puts its glyphs. Lengths are those of text space, before the horizontal scale. */
export function layOut(glyphs: readonly unknown[], setting: TextState): Laid {
  const { font, fontSize, charSpacing, wordSpacing } = setting;
  const em = Math.abs(fontSize);
  const laid: Laid = { runs: [], end: 0, unseen: font.unseen };
  let least = Number.NEGATIVE_INFINITY;
  for (const glyph of glyphs) {
    if (typeof glyph === 'number') laid.end -= (glyph / 1000) * fontSize;
    if (!isGlyph(glyph)) continue;
    const x = laid.end;
    const width = glyph.width * font.scale * fontSize;
    if (!font.isPlain(glyph)) laid.unseen ??= 'in letters that may look otherwise';
    if (!/^[\s\p{M}]/u.test(glyph.unicode)) {
      if (x < least) laid.unseen ??= 'set in no plain order';
      least = x + em * (/\p{Nd}/u.test(glyph.unicode) ? LEAST_DIGIT_STEP : LEAST_STEP);
    }
    addTo(laid.runs, glyph.unicode, x, width, em, inkAt(font.inkOf(glyph), x, fontSize));
    laid.end = x + width + charSpacing + (glyph.isSpace ? wordSpacing : 0);
  }
  return laid;
}

function addTo(runs: LetterRun[], text: string, x: number, width: number, em: number, ink: Box | null): void {
  const run = runs.at(-1);
  if (run === undefined || Math.abs(x - run.end) > SPACE * em) {
    runs.push({ text, start: x, end: x + width, ink });
    return;
  }
  run.text += text;
  run.end = x + width;
  run.ink = run.ink === null || ink === null ? null : around(run.ink, ink);
}

function inkAt(ink: Box | null, x: number, size: number): Box | null {
  if (ink === null) return null;
  const { left, bottom, right, top } = ink;
  return { left: x + left * size, bottom: bottom * size, right: x + right * size, top: top * size };
}

function around(one: Box, other: Box): Box {
  return {
    left: Math.min(one.left, other.left),
    bottom: Math.min(one.bottom, other.bottom),
    right: Math.max(one.right, other.right),
    top: Math.max(one.top, other.top),
  };
}

function isGlyph(glyph: unknown): glyph is Glyph {
  return typeof glyph === 'object' && glyph !== null && 'unicode' in glyph && typeof glyph.unicode === 'string';
}
