import { type Box, contains, overlaps } from './geometry.ts';

/** Red, green and blue from 0 to 255; null for a pattern, a picture or what is partly transparent. */
export type Color = Rgb | null;

type Rgb = readonly [number, number, number];

interface Area {
  box: Box;
  color: Color;
}

const PAPER: Rgb = [255, 255, 255];
/** Of 255, between text and what it stands on, in the channel where they differ most: less is hard to see. */
const LEAST_CONTRAST = 64;
/** A page with more areas is no document for reading. */
const MAX_AREAS = 20_000;
/** Of the looks that text takes through the areas. */
const MAX_LOOKS = 50_000_000;

/** What is painted on a page besides text, in the order of painting. */
export class Paint {
  readonly #areas: Area[] = [];
  #looks = 0;

  /** How much was painted so far: what is painted later covers. */
  get time(): number {
    return this.#areas.length;
  }

  get isTooMuch(): boolean {
    return this.#areas.length >= MAX_AREAS || this.#looks >= MAX_LOOKS;
  }

  add(box: Box, color: Color): void {
    if (!this.isTooMuch) this.#areas.push({ box, color });
  }

  /** Why text of this colour, painted at this time, is hard to see; null where it is plain. */
  hides(box: Box, color: Color, time: number): string | null {
    if (this.isTooMuch) return 'in a drawing that has too many parts';
    for (let at = this.#areas.length - 1; at >= time; at--)
      if (this.#look(at, box)) return 'covered by what is drawn later';
    if (color === null) return 'in a colour that is not known';
    for (let at = time - 1; at >= 0; at--) {
      if (!this.#look(at, box)) continue;
      const area = this.#areas[at];
      if (area === undefined) continue;
      if (area.color === null) return 'on a picture or pattern';
      if (!isPlainOn(color, area.color)) return 'in the colour of its ground';
      if (contains(area.box, box)) return null;
    }
    return isPlainOn(color, PAPER) ? null : 'in the colour of its ground';
  }

  #look(at: number, box: Box): boolean {
    this.#looks++;
    const area = this.#areas[at];
    return area !== undefined && overlaps(area.box, box);
  }
}

function isPlainOn(color: Rgb, ground: Rgb): boolean {
  return color.some((channel, index) => Math.abs(channel - (ground[index] ?? 0)) >= LEAST_CONTRAST);
}

/** `#rrggbb`, as pdf.js gives every colour. */
export function toColor(text: unknown): Color {
  const hex = typeof text === 'string' ? /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text) : null;
  return hex === null ? null : [toByte(hex[1]), toByte(hex[2]), toByte(hex[3])];
}

function toByte(hex: string | undefined): number {
  return Number.parseInt(hex ?? '', 16);
}
