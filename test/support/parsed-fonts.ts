import fontkit from '@cantoo/fontkit';

type Create = (bytes: Uint8Array, name?: string) => object;

/** Fonts by the bytes of their files, which `fonts.ts` keeps. */
const parsed = new WeakMap<Uint8Array, object>();

/**
 * Parses each font once in this process: each report is set in fonts of its own, and to parse their tables takes a fifth of
 * the time of a small export. Fonts share what is in the file and nothing else: glyphs remember the characters of a document.
 */
function keepParsedFonts(library: { create: Create }): void {
  const { create } = library;
  library.create = (bytes, name) => {
    const font = parsed.get(bytes) ?? create(bytes, name);
    parsed.set(bytes, font);
    return copyOf(font);
  };
}

/** A font with the same tables, as fontkit's `getVariation` makes it. */
function copyOf(font: object): object {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(font)), font, { _glyphs: {} });
  copy._installTableGetters();
  return copy;
}

keepParsedFonts(fontkit as unknown as { create: Create });
