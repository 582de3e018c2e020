import { type Box, contains, isUpright, type Matrix, overlaps } from './geometry.ts';
import type { Graphics } from './graphics.ts';

/** In points: smaller type is not for reading. */
const LEAST_SIZE = 4;
/** Of the width of letters by their height. */
const [LEAST_STRETCH, MOST_STRETCH] = [0.5, 2];
/** ISO 32000-1 table 106. */
const FILLED = 0;
const INVISIBLE = new Set([3, 7]);

/** Text in this mode leaves nothing on the page. */
export function isInvisible(mode: number): boolean {
  return INVISIBLE.has(mode);
}

/**
 * Why a person may not see text that is drawn now; null when nothing but what is drawn over it can hide it.
 * @param box of its letters, in points of the page. @param size of its type, in points.
 */
export function whyUnseen(graphics: Graphics, place: Matrix, box: Box, size: number): string | null {
  const { mode, clip, isShaped, isBlended, isMasked, font, fontSize, scale, fillAlpha } = graphics.state;
  const stretch = (scale * Math.hypot(place[0], place[1])) / Math.hypot(place[2], place[3]);
  if (isInvisible(mode)) return 'drawn invisibly';
  if (graphics.layer !== 'everywhere') return 'on a layer that is not shown';
  if (graphics.isInMask || isMasked) return 'in or under a mask';
  if (graphics.isInAnnotation) return 'in an annotation';
  if (!overlaps(clip, box)) return 'outside of what is shown';
  if (isShaped || !contains(clip, box)) return 'clipped';
  if (mode !== FILLED) return 'drawn as outlines';
  if (fillAlpha !== 1 || isBlended) return 'transparent';
  if (!isUpright(place) || fontSize < 0 || scale <= 0 || font?.isVertical) return 'turned or mirrored';
  if (!(stretch >= LEAST_STRETCH && stretch <= MOST_STRETCH)) return 'squeezed or stretched';
  return size < LEAST_SIZE ? 'too small to read' : null;
}
