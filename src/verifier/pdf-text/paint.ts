import type { Font } from './font.ts';
import { type Box, contains, overlaps } from './geometry.ts';

/** Red, green and blue from 0 to 255; null for a pattern, a picture or what is partly transparent. */
export type PaintColor = Rgb | null;

type Rgb = readonly [number, number, number];

/** Text that is painted, to know the same text printed once more to make it bold. */
export interface Print {
  text: string;
  x: number;
  y: number;
  size: number;
  font: Font | null;
}

interface Area {
  box: Box;
  color: PaintColor;
  print: Print | null;
}

const PAPER: Rgb = [255, 255, 255];
/** Between text and what it stands on: WCAG 2.2, success criterion 1.4.11, asks for no less of what must be seen. */
const LEAST_CONTRAST = 3;
/** A page with more areas is no document for reading. */
const MAX_AREAS = 40_000;
/** Of the looks that text takes through the areas. */
const MAX_LOOKS = 20_000_000;
/** Bands of a page in which areas are looked for. */
const BANDS = 64;
/** In ems: between two prints of a text that is made bold so. */
const SAME_PLACE = 0.15;

/** All that is painted on a page, text too, in the order of painting. */
export class Paint {
  readonly #areas: Area[] = [];
  readonly #bands = Array.from({ length: BANDS }, (): number[] => []);
  readonly #page: Box;
  #looks = 0;

  constructor(page: Box) {
    this.#page = page;
  }

  get isTooMuch(): boolean {
    return this.#areas.length >= MAX_AREAS || this.#looks >= MAX_LOOKS;
  }

  /** How much was painted so far: what is painted later covers. */
  get time(): number {
    return this.#areas.length;
  }

  /** @param print what is text is ground for no other text. */
  add(box: Box, color: PaintColor, print: Print | null = null): void {
    if (this.isTooMuch) return;
    for (const band of this.#bandsOf(box)) band.push(this.#areas.length);
    this.#areas.push({ box, color, print });
  }

  /** Why text of this colour, painted at this time, is hard to see; null where it is plain. */
  hides(box: Box, color: PaintColor, time: number, print: Print): string | null {
    if (this.isTooMuch) return 'in a drawing that has too many parts';
    const near = this.#near(box, color, print);
    if (near.some((at) => at >= time)) return 'covered by what is drawn later';
    if (color === null) return 'in a colour that is not known';
    for (const at of near) {
      const area = this.#areas[at];
      if (area === undefined) continue;
      if (area.print !== null) return 'on other text';
      if (area.color === null) return 'on a picture or pattern';
      if (!isPlainOn(color, area.color)) return 'in the colour of its ground';
      if (contains(area.box, box)) return null;
    }
    return isPlainOn(color, PAPER) ? null : 'in the colour of its ground';
  }

  /** The latest first. */
  #near(box: Box, color: PaintColor, print: Print): number[] {
    const near = new Set<number>();
    for (const band of this.#bandsOf(box)) {
      this.#looks += band.length;
      for (const at of band) {
        const area = this.#areas[at];
        if (area !== undefined && overlaps(area.box, box) && !isTwin(area, color, print)) near.add(at);
      }
    }
    return [...near].sort((a, b) => b - a);
  }

  #bandsOf({ bottom, top }: Box): number[][] {
    const height = (this.#page.top - this.#page.bottom) / BANDS;
    const bandOf = (y: number) => Math.min(BANDS - 1, Math.max(0, Math.floor((y - this.#page.bottom) / height)));
    return this.#bands.slice(bandOf(bottom), bandOf(top) + 1);
  }
}

/** The text itself, or the same once more. */
function isTwin({ print: other, color: otherColor }: Area, color: PaintColor, print: Print): boolean {
  if (other === null) return false;
  if (other === print) return true;
  const distance = Math.hypot(other.x - print.x, other.y - print.y);
  const isSame = other.text === print.text && other.size === print.size && other.font === print.font;
  const isSameColor = color !== null && otherColor !== null && color.join() === otherColor.join();
  return isSame && isSameColor && distance <= SAME_PLACE * print.size;
}

function isPlainOn(color: Rgb, ground: Rgb): boolean {
  const [dark = 0, light = 0] = [luminance(color), luminance(ground)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05) >= LEAST_CONTRAST;
}

/** Relative luminance of WCAG 2.2, from 0 to 1. */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** `#rrggbb`, as pdf.js gives every colour. */
export function toColor(text: unknown): PaintColor {
  const hex = typeof text === 'string' ? /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text) : null;
  return hex === null ? null : [toByte(hex[1]), toByte(hex[2]), toByte(hex[3])];
}

function toByte(hex: string | undefined): number {
  return Number.parseInt(hex ?? '', 16);
}
