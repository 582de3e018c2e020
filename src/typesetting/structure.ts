import { type PDFDict, type PDFDocument, PDFHexString, PDFName, PDFNull, PDFNumber, type PDFRef } from 'pdf-lib';

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
    const numbers = parents.flatMap((refs, page) => [PDFNumber.of(page), context.register(context.obj(refs))]);
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
    const written = kids.map((kid): PDFRef | PDFDict | PDFNumber => {
      if ('role' in kid) return this.#writeElement(document, kid, ref, pages, parents);
      const ofPage = parents[kid.page];
      if (ofPage !== undefined) ofPage[kid.id] = ref;
      if (kid.page === own) return PDFNumber.of(kid.id);
      return context.obj({ Type: 'MCR', Pg: pages[kid.page] ?? null, MCID: kid.id }) as PDFDict;
    });
    const element = context.obj({ S: role, P: parent }) as PDFDict;
    if (own !== undefined) element.set(PDFName.of('Pg'), pages[own] ?? PDFNull);
    if (written.length > 0)
      element.set(PDFName.of('K'), written.length === 1 ? (written[0] ?? PDFNull) : context.obj(written));
    if (alt !== null) element.set(PDFName.of('Alt'), PDFHexString.fromText(alt));
    if (role === 'TH') element.set(PDFName.of('A'), context.obj({ O: 'Table', Scope: 'Column' }));
    context.assign(ref, element);
    return ref;
  }
}
