import { readFile } from 'node:fs/promises';
import { parse } from 'node:path';
import fontkit from '@cantoo/fontkit';
import type { PDFDocument, PDFFont } from 'pdf-lib';
import { packageFile } from '../install-paths.ts';

/** Embedded font file. Widths are in multiples of the font size. */
export interface Face {
  readonly pdf: PDFFont;
  /** Reports whether the font can set this character properly; see `isSettable` for the exceptions. */
  covers(character: string): boolean;
  widthOf(text: string): number;
  /**
   * Returns the glyphs of a text as hexadecimal digits. @param shaped true if its characters must be laid out together.
   */
  encode(text: string, shaped: boolean): string;
}

/** Faces to look for a character in, the best first. */
export type Style = readonly Face[];

export interface Styles {
  regular: Style;
  bold: Style;
  mono: Style;
}

/**
 * Characters that are not set even if the font has a glyph, because they would be invisible, misplaced or unreadable,
 * and are marked by code point instead: controls, formats and unassigned code points; every space but U+0020; combining
 * marks that NFC leaves, for which pdf-lib has no positioning; scripts written right to left other than Hebrew and
 * Arabic; Arabic presentation forms, whose glyphs shaping uses for the letters themselves.
 */
const UNSETTABLE = /[\p{C}\p{M}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\uFB50-\uFDFF\uFE70-\uFEFF]/u;
const OTHER_RIGHT_TO_LEFT =
  /[\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\uFB1D-\uFB4F\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

export function isSettable(character: string): boolean {
  return !UNSETTABLE.test(character) && !OTHER_RIGHT_TO_LEFT.test(character);
}

/** Files in templates/fonts, as published by their makers, whose packages contain ten weights of each. */
const DEJAVU = {
  regular: 'DejaVuSans.ttf',
  bold: 'DejaVuSans-Bold.ttf',
  mono: 'DejaVuSansMono.ttf',
} as const;
/**
 * Fonts for characters that DejaVu lacks, the best first: Chinese characters and kana, emoji, the rest of the first
 * plane.
 */
const FALLBACKS = ['NotoSansSC_400Regular.ttf', 'NotoEmoji_400Regular.ttf', 'unifont-latin-400-normal.woff'] as const;
/**
 * Tag of a font subset, six letters and a plus sign (PDF 32000-1 section 9.6.4). Fixed, so that the same package always
 * gives the same bytes.
 */
const SUBSET_TAG = 'EVIDNC+';

/**
 * No ligatures: an `ffi` in one glyph could not be cut, nor searched for in every reader. No positioning: pdf-lib uses
 * only the advance widths and would drop the rest of fontkit's work.
 */
const FEATURES = { liga: false, clig: false, kern: false, mark: false, mkmk: false, curs: false };

const loaded = new Map<string, Promise<Uint8Array>>();

/** Embeds the parts of DejaVu that the document will use. */
export async function embedStyles(document: PDFDocument): Promise<Styles> {
  document.registerFontkit(fontkit);
  const regular = await embedFace(document, DEJAVU.regular);
  const bold = await embedFace(document, DEJAVU.bold);
  const mono = await embedFace(document, DEJAVU.mono);
  return { regular: [regular], bold: [bold, regular], mono: [mono, regular] };
}

/**
 * Embeds DejaVu like `embedStyles`, and further fonts for characters that it lacks. These are large, so only the fonts
 * that the document needs are loaded.
 * @param characters all characters that the document may set.
 */
export async function embedStylesFor(document: PDFDocument, characters: ReadonlySet<string>): Promise<Styles> {
  const { regular, bold, mono } = await embedStyles(document);
  const [dejavu] = regular;
  let missing = [...characters].filter((character) => isSettable(character) && !dejavu?.covers(character));
  const fallbacks: Face[] = [];
  for (const file of FALLBACKS) {
    if (missing.length === 0) break;
    const face = await embedFace(document, file);
    const left = missing.filter((character) => !face.covers(character));
    if (left.length < missing.length) fallbacks.push(face);
    missing = left;
  }
  return { regular: [...regular, ...fallbacks], bold: [...bold, ...fallbacks], mono: [...mono, ...fallbacks] };
}

async function embedFace(document: PDFDocument, file: string): Promise<Face> {
  const pdf = await document.embedFont(await fontBytes(file), {
    subset: true,
    customName: `${SUBSET_TAG}${parse(file).name}`,
    features: FEATURES,
  });
  const known = new Set(pdf.getCharacterSet());
  const widths = new Map<string, number>();
  const glyphs = new Map<string, string>();
  const glyphsOf = (character: string): string => {
    const known = glyphs.get(character) ?? pdf.encodeText(character).asString();
    glyphs.set(character, known);
    return known;
  };
  return {
    pdf,
    covers: (character) => known.has(character.codePointAt(0) ?? 0) && isSettable(character),
    widthOf: (text) => {
      const cached = widths.get(text);
      if (cached !== undefined) return cached;
      const width = pdf.widthOfTextAtSize(text, 1);
      // Single characters recur, whole names rarely do.
      if (text.length <= 2) widths.set(text, width);
      return width;
    },
    // Without ligatures and positioning, a character that does not join others has the same glyph everywhere; fontkit's
    // layout of every line would take most of the time and memory of a long document.
    encode: (text, shaped) => (shaped ? pdf.encodeText(text).asString() : Array.from(text, glyphsOf).join('')),
  };
}

function fontBytes(file: string): Promise<Uint8Array> {
  const bytes = loaded.get(file) ?? readFile(packageFile(`templates/fonts/${file}`));
  loaded.set(file, bytes);
  return bytes;
}
