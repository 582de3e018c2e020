import fontkit from '@cantoo/fontkit';

type Create = (bytes: Uint8Array, name?: string) => object;

/** Parsed TrueType fonts, by the bytes of their files, which `fonts.ts` keeps. */
const parsed = new WeakMap<Uint8Array, object>();

/**
 * Parses each TrueType font once per process; parsing takes a fifth of the time of a small export. Documents share only
 * the tables of the file, because a font remembers the characters of its document. WOFF fonts decompress their tables into
 * members of their own and are parsed for each document.
 */
function keepParsedFonts(library: { create: Create }): void {
  const { create } = library;
  library.create = (bytes, name) => {
    if (Buffer.from(bytes.subarray(0, 4)).equals(Buffer.from('wOFF'))) return create(bytes, name);
    const font = parsed.get(bytes) ?? create(bytes, name);
    parsed.set(bytes, font);
    return copyOf(font);
  };
}

/** Returns a font with the same tables and no characters yet, as fontkit's `getVariation` does. */
function copyOf(font: object): object {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(font)), font, { _glyphs: {} });
  copy._installTableGetters();
  return copy;
}

keepParsedFonts(fontkit as unknown as { create: Create });
