import { type PDFDocument, PDFHexString, PDFName, PDFNumber, PDFRef } from 'pdf-lib';
import type { ObjectBlock } from './writing.ts';

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
  /** In the order in which they were opened, from 0; each before its kids. */
  number: number;
  parent: number;
  kids: (Element | MarkedContent)[];
}

interface MarkedContent {
  page: number;
  id: number;
}

/**
 * What is on the pages as a tree of headings, paragraphs, tables and figures, in the order in which it is read. It has
 * several elements for each cell of each table: as objects of pdf-lib they would take more memory than all the rest.
 */
export class Structure {
  readonly #root: Element = { role: 'Document', alt: null, number: 0, parent: -1, kids: [] };
  /** By their numbers. */
  readonly #elements = [this.#root];
  #open: Element[] = [this.#root];
  /** Of each page, the element that each of its pieces of marked content belongs to. */
  readonly #owners: number[][] = [];

  open(role: Role, alt: string | null = null): void {
    const parent = this.#open.at(-1) ?? this.#root;
    const element: Element = { role, alt, number: this.#elements.length, parent: parent.number, kids: [] };
    this.#elements.push(element);
    parent.kids.push(element);
    this.#open.push(element);
  }

  close(): void {
    const element = this.#open.pop();
    // V8 makes room for seventeen with the first that is pushed. Most have one.
    if (element !== undefined) element.kids = element.kids.slice();
  }

  /** The innermost open element; null outside of all, where there is only what is no content. */
  get role(): Role | null {
    return this.#open.length > 1 ? (this.#open.at(-1)?.role ?? null) : null;
  }

  /** A number for a piece of content of the innermost open element. @param page from 0. */
  mark(page: number): number {
    const owner = this.#open.at(-1) ?? this.#root;
    let owners = this.#owners[page];
    if (owners === undefined) {
      owners = [];
      this.#owners[page] = owners;
    }
    const id = owners.push(owner.number) - 1;
    owner.kids.push({ page, id });
    return id;
  }

  /** Puts the tree into the document, when all its pages are there. @returns what of it is still to be written. */
  complete(document: PDFDocument): ObjectBlock {
    const { context, catalog } = document;
    const pages = document.getPages();
    const root = context.nextRef();
    const first = root.objectNumber + 1;
    const behind = first + this.#elements.length;
    context.largestObjectNumber = behind + pages.length - 1;
    const numbers = pages.flatMap((_page, page) => [PDFNumber.of(page), PDFRef.of(behind + page)]);
    const tree = context.register(context.obj({ Nums: numbers }));
    const top = PDFRef.of(first);
    const entries = { Type: 'StructTreeRoot', K: top, ParentTree: tree, ParentTreeNextKey: pages.length };
    context.assign(root, context.obj(entries));
    catalog.set(PDFName.of('StructTreeRoot'), root);
    catalog.set(PDFName.of('MarkInfo'), context.obj({ Marked: true }));
    pages.forEach(({ node }, page) => {
      node.set(PDFName.of('StructParents'), PDFNumber.of(page));
      node.set(PDFName.of('Tabs'), PDFName.of('S'));
    });
    const references = pages.map(({ ref }) => String(ref));
    return { first, texts: this.#write(first, references) };
  }

  /** The elements and, of each page, the owners of its content, as they stand in the file. @param pages references. */
  *#write(first: number, pages: readonly string[]): Generator<string> {
    for (const { role, alt, parent, kids } of this.#elements) {
      // PDF 32000-1 section 14.7.4.2: content of the element's own page is named by its number alone.
      const own = kids.find((kid) => 'id' in kid)?.page;
      const written = kids.map((kid) => {
        if ('role' in kid) return refTo(first + kid.number);
        return kid.page === own ? String(kid.id) : `<</Type/MCR/Pg ${pages[kid.page]}/MCID ${kid.id}>>`;
      });
      const page = own === undefined ? '' : `/Pg ${pages[own]}`;
      const shown = alt === null ? '' : `/Alt ${PDFHexString.fromText(alt)}`;
      const scope = role === 'TH' ? '/A<</O/Table/Scope/Column>>' : '';
      yield `<</S/${role}/P ${refTo(first + parent)}${page}${shown}${scope}/K[${written.join(' ')}]>>`;
    }
    for (const page of pages.keys())
      yield `[${(this.#owners[page] ?? []).map((number) => refTo(first + number)).join(' ')}]`;
  }
}

function refTo(number: number): string {
  return `${number} 0 R`;
}
