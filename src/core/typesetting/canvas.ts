import type { PDFFont, PDFPage, PDFRef } from 'pdf-lib';
import { PDFArray, PDFName, PDFString } from 'pdf-lib';
import type { FaceRun } from './bidi.ts';

/** Red, green and blue, from 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number];

/**
 * Content of one page, written directly as operators: pdf-lib would keep an object for every operator and operand until
 * the document is saved, which takes too much memory for a report of thousands of streams.
 */
export class Canvas {
  readonly page: PDFPage;
  readonly #operators = new Operators();
  readonly #fonts = new Map<PDFFont, string>();

  constructor(page: PDFPage) {
    this.page = page;
  }

  /**
   * Draws a run.
   * @param x position of the first glyph, @param y of the baseline, in points from the lower left.
   * @param upright true if the text runs upward.
   */
  text({ text, face, isShaped }: FaceRun, size: number, color: Color, x: number, y: number, way?: 'upright'): void {
    const glyphs = face.encode(text, isShaped);
    this.#operators.push(
      `BT ${rgb(color)} rg /${this.#fontKey(face.pdf)} ${number(size)} Tf ${way === 'upright' ? '0 1 -1 0' : '1 0 0 1'} ${number(x)} ${number(y)} Tm <${glyphs}> Tj ET`,
    );
  }

  rectangle(x: number, y: number, width: number, height: number, color: Color): void {
    this.#operators.push(`${rgb(color)} rg ${[x, y, width, height].map(number).join(' ')} re f`);
  }

  line(x1: number, y1: number, x2: number, y2: number, thickness: number, color: Color): void {
    this.#operators.push(
      `${rgb(color)} RG ${number(thickness)} w ${number(x1)} ${number(y1)} m ${number(x2)} ${number(y2)} l S`,
    );
  }

  /** Adds a link annotation (PDF 32000-1 section 12.5.6.5). @param url in ASCII. */
  link(x: number, y: number, width: number, height: number, url: string): void {
    const { node, doc } = this.page;
    const action = { Type: 'Action', S: 'URI', URI: PDFString.of(url) };
    const annotation = {
      Type: 'Annot',
      Subtype: 'Link',
      Rect: [x, y, x + width, y + height],
      Border: [0, 0, 0],
      A: action,
    };
    node.addAnnot(doc.context.register(doc.context.obj(annotation)));
  }

  /** Begins marked content `id` of the page, up to `endMarked` (PDF 32000-1 section 14.6). */
  beginMarked(role: string, id: number): void {
    this.#operators.push(`/${role} <</MCID ${id}>> BDC`);
  }

  /** Begins an artifact, which is no content, up to `endMarked` (PDF 32000-1 section 14.8.2.2). */
  beginArtifact(): void {
    this.#operators.push('/Artifact BMC');
  }

  endMarked(): void {
    this.#operators.push('EMC');
  }

  /** Appends everything drawn since the last call to the page's content. */
  flush(): void {
    if (this.#operators.length === 0) return;
    const { node, doc } = this.page;
    const stream = doc.context.register(doc.context.flateStream(this.#operators.take()));
    const streams = node.lookupMaybe(PDFName.of('Contents'), PDFArray);
    if (streams === undefined) node.set(PDFName.of('Contents'), doc.context.obj([stream]));
    else streams.push(stream);
  }

  get ref(): PDFRef {
    return this.page.ref;
  }

  #fontKey(font: PDFFont): string {
    const known = this.#fonts.get(font);
    if (known !== undefined) return known;
    const key = `F${this.#fonts.size}`;
    this.#fonts.set(font, key);
    this.page.node.setFontDictionary(PDFName.of(key), font.ref);
    return key;
  }
}

const NOTHING = Buffer.alloc(0);
const ROOM = 16 * 1024;

/** Operators, one per line, as bytes: strings would live until their page is full, too long for cheap collection. */
class Operators {
  #bytes = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @param operator in ASCII. */
  push(operator: string): void {
    const line = `${operator}\n`;
    if (this.#length + line.length > this.#bytes.length) this.#grow(line.length);
    this.#length += this.#bytes.write(line, this.#length, 'latin1');
  }

  /** Returns the operators pushed since the last call, without the last line feed. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length - 1);
    this.#bytes = NOTHING;
    this.#length = 0;
    return taken;
  }

  #grow(more: number): void {
    const larger = Buffer.allocUnsafe(Math.max(ROOM, 2 * (this.#length + more)));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

function rgb(color: Color): string {
  return color.map(number).join(' ');
}

/** Rounds to a hundredth of a point, which is finer than any printer. */
function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}
