import { type PDFDict, type PDFDocument, PDFHexString, PDFName, PDFNumber, type PDFRef } from 'pdf-lib';

/** A place in the document that a reader can go to by its name. */
export interface Bookmark {
  title: string;
  page: PDFRef;
  /** The upper edge of what is shown, in points from below. */
  y: number;
}

/** PDF 32000-1 section 12.3.3: the bookmarks, in one level. */
export function writeOutline({ context, catalog }: PDFDocument, bookmarks: readonly Bookmark[]): void {
  if (bookmarks.length === 0) return;
  const root = context.nextRef();
  const refs = bookmarks.map(() => context.nextRef());
  bookmarks.forEach(({ title, page, y }, index) => {
    const item = context.obj({ Parent: root, Dest: [page, 'XYZ', null, y, null] }) as PDFDict;
    item.set(PDFName.of('Title'), PDFHexString.fromText(title));
    const [before, after] = [refs[index - 1], refs[index + 1]];
    if (before !== undefined) item.set(PDFName.of('Prev'), before);
    if (after !== undefined) item.set(PDFName.of('Next'), after);
    context.assign(refs[index] ?? root, item);
  });
  const outline = context.obj({ Type: 'Outlines', Count: PDFNumber.of(refs.length) }) as PDFDict;
  const [first, last] = [refs[0], refs.at(-1)];
  if (first !== undefined && last !== undefined) {
    outline.set(PDFName.of('First'), first);
    outline.set(PDFName.of('Last'), last);
  }
  context.assign(root, outline);
  catalog.set(PDFName.of('Outlines'), root);
  catalog.set(PDFName.of('PageMode'), PDFName.of('UseOutlines'));
}
