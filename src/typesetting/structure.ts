import { type PDFDocument, PDFHexString, PDFName, PDFNumber, PDFObject, type PDFRef } from 'pdf-lib';

/** PDF 32000-1 section 14.8.4: the standard structure types that are used here. */
export type Role =
  | 'Document'
  | 'Sect'
  | 'H1'
  | 'H2'
  | 'P'
  | 'L'
  | 'LI'
  | 'LBody'
  | 'Table'
  | 'TR'
  | 'TH'
  | 'TD'
  | 'Figure';

interface Element {
  role: Role;
  /** What a figure shows, for those who do not see it. */
  alt: string | null;
  kids: (Element | MarkedContent)[];
}

interface MarkedContent {
  page: number;
  id: number;
}

/**
 * An object as it is written. Structure has several elements for each cell of each table, and pdf-lib's dictionaries
 * take ten times the memory of their text.
 */
class WrittenObject extends PDFObject {
  readonly #text: string;

  /** @param text ASCII. */
  constructor(text: string) {
    super();
    this.#text = text;
  }

  override toString(): string {
    return this.#text;
  }

  override sizeInBytes(): number {
    return this.#text.length;
  }

  override copyBytesInto(buffer: Uint8Array, offset: number): number {
    buffer.set(Buffer.from(this.#text, 'latin1'), offset);
    return this.#text.length;
  }
}

/** What is on the pages as a tree of headings, paragraphs, tables and figures, in the order in which it is read. */
export class Structure {
  readonly #root: Element = { role: 'Document', alt: null, kids: [] };
  #open: Element[] = [this.#root];
  /** Of each page, how many pieces of marked content it has. */
  readonly #marked: number[] = [];

  open(role: Role, alt: string | null = null): void {
    const element: Element = { role, alt, kids: [] };
    this.#open.at(-1)?.kids.push(element);
    this.#open.push(element);
  }

  close(): void {
    this.#open = this.#open.slice(0, -1);
  }

  /** The innermost open element; null outside of all, where there is only what is no content. */
  get role(): Role | null {
    return this.#open.length > 1 ? (this.#open.at(-1)?.role ?? null) : null;
  }

  /** A number for a piece of content of the innermost open element. @param page from 0. */
  mark(page: number): number {
    const id = this.#marked[page] ?? 0;
    this.#marked[page] = id + 1;
    this.#open.at(-1)?.kids.push({ page, id });
    return id;
  }

  /** Writes the tree into the document, when all its pages are there. */
  write(document: PDFDocument): void {
    const { context, catalog } = document;
    const pages = document.getPages().map((page) => page.ref);
    const parents: PDFRef[][] = pages.map(() => []);
    const root = context.nextRef();
    const top = this.#writeElement(document, this.#root, root, pages, parents);
    const numbers = parents.flatMap((refs, page) => [
      PDFNumber.of(page),
      context.register(new WrittenObject(`[${refs.join(' ')}]`)),
    ]);
    const tree = context.register(context.obj({ Nums: numbers }));
    const entries = { Type: 'StructTreeRoot', K: top, ParentTree: tree, ParentTreeNextKey: pages.length };
    context.assign(root, context.obj(entries));
    catalog.set(PDFName.of('StructTreeRoot'), root);
    catalog.set(PDFName.of('MarkInfo'), context.obj({ Marked: true }));
    document.getPages().forEach(({ node }, page) => {
      node.set(PDFName.of('StructParents'), PDFNumber.of(page));
      node.set(PDFName.of('Tabs'), PDFName.of('S'));
    });
  }

  #writeElement(
    document: PDFDocument,
    { role, alt, kids }: Element,
    parent: PDFRef,
    pages: readonly PDFRef[],
    parents: PDFRef[][],
  ): PDFRef {
    const { context } = document;
    const ref = context.nextRef();
    // PDF 32000-1 section 14.7.4.2: content of the element's own page is named by its number alone.
    const own = kids.find((kid) => 'id' in kid)?.page;
    const written = kids.map((kid): string => {
      if ('role' in kid) return this.#writeElement(document, kid, ref, pages, parents).toString();
      const ofPage = parents[kid.page];
      if (ofPage !== undefined) ofPage[kid.id] = ref;
      return kid.page === own ? String(kid.id) : `<</Type/MCR/Pg ${pages[kid.page]}/MCID ${kid.id}>>`;
    });
    const page = own === undefined ? '' : `/Pg ${pages[own]}`;
    const shown = alt === null ? '' : `/Alt ${PDFHexString.fromText(alt)}`;
    const scope = role === 'TH' ? '/A<</O/Table/Scope/Column>>' : '';
    const text = `<</S/${role}/P ${parent}${page}${shown}${scope}/K[${written.join(' ')}]>>`;
    context.assign(ref, new WrittenObject(text));
    return ref;
  }
}
