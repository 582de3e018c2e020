import type { PDFContext, PDFDocument, PDFObject } from 'pdf-lib';

/** Consecutively numbered objects, each made when it is written. */
export interface ObjectBlock {
  /** Number of the first object. The document keeps the numbers of all of them free. */
  first: number;
  /** ASCII. */
  texts: Iterable<string>;
}

/**
 * Writes the file that `PDFDocument.save` would make, object by object (PDF 32000-1 section 7.5); `save` would hold all
 * objects and the whole file in memory.
 *
 * @param block objects that are not in the document.
 */
export async function writeDocument(document: PDFDocument, block: ObjectBlock | null): Promise<Iterable<Uint8Array>> {
  await document.flush();
  return piecesOf(document.context, block);
}

function* piecesOf(context: PDFContext, block: ObjectBlock | null): Generator<Uint8Array> {
  const header = Buffer.concat([bytesOf(context.header), Buffer.from('\n\n')]);
  yield header;
  let at = header.length;
  // Number 0 is that of no object.
  const offsets = [0];
  for (const [number, content] of numbered(context, block)) {
    offsets[number] = at;
    const piece = Buffer.concat([Buffer.from(`${number} 0 obj\n`), content, Buffer.from('\nendobj\n\n')]);
    at += piece.length;
    yield piece;
  }
  const { Root, Info } = context.trailerInfo;
  const trailer = context.obj({ Size: context.largestObjectNumber + 1, Root, Info });
  yield Buffer.from(`${crossReferences(offsets)}\ntrailer\n${trailer}\n\nstartxref\n${at}\n%%EOF`);
}

/** Yields every object by number, in ascending order. */
function* numbered(context: PDFContext, block: ObjectBlock | null): Generator<[number, Uint8Array]> {
  const objects = context.enumerateIndirectObjects();
  const found = objects.findIndex(([{ objectNumber }]) => block !== null && objectNumber > block.first);
  const end = found === -1 ? objects.length : found;
  for (const [{ objectNumber }, object] of objects.slice(0, end)) yield [objectNumber, bytesOf(object)];
  let number = block?.first ?? 0;
  for (const text of block?.texts ?? []) yield [number++, Buffer.from(text, 'latin1')];
  for (const [{ objectNumber }, object] of objects.slice(end)) yield [objectNumber, bytesOf(object)];
}

function bytesOf(part: Pick<PDFObject, 'sizeInBytes' | 'copyBytesInto'>): Uint8Array {
  const bytes = new Uint8Array(part.sizeInBytes());
  part.copyBytesInto(bytes, 0);
  return bytes;
}

/**
 * Returns the cross-reference table (PDF 32000-1 section 7.5.4), with a section for each gapless sequence of numbers.
 * @param offsets by object number.
 */
function crossReferences(offsets: readonly number[]): string {
  const sections: { first: number; entries: string[] }[] = [];
  for (const [number, offset] of offsets.entries()) {
    if (offset === undefined) continue;
    const last = sections.at(-1);
    const entry = `${String(offset).padStart(10, '0')} ${number === 0 ? '65535 f' : '00000 n'} \n`;
    if (last !== undefined && last.first + last.entries.length === number) last.entries.push(entry);
    else sections.push({ first: number, entries: [entry] });
  }
  return `xref\n${sections.map(({ first, entries }) => `${first} ${entries.length}\n${entries.join('')}`).join('')}`;
}
