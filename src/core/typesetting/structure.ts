import { type PDFDict, type PDFDocument, PDFHexString, PDFName, PDFNumber, PDFRef } from 'pdf-lib';
import type { ObjectBlock } from './writing.ts';

/** Standard structure types that are used here (PDF 32000-1 section 14.8.4). */
export type StructureType =
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

/** Child of an element: another element, or a piece of the content of a page. */
type Kid = { element: number } | { page: number; id: number };

const NONE = -1;

/**
 * Structure of the pages as a tree of headings, paragraphs, tables and figures, in reading order. It has several
 * elements for each cell of each table, so it is kept as lists of numbers, not as objects.
 */
export class Structure {
  /** Roles by element number, in the order in which elements were opened, each before its kids. */
  readonly #roles: StructureType[] = [];
  readonly #parents = new Numbers();
  readonly #firstKids = new Numbers();
  readonly #lastKids = new Numbers();
  /** Descriptions of figures, for people who cannot see them. */
  readonly #alts = new Map<number, string>();
  /**
   * Fields of each kid, by its number: the next kid, and its content. A piece of content has its page and id, an
   * element has `NONE` and its number.
   */
  readonly #nextKids = new Numbers();
  readonly #pages = new Numbers();
  readonly #ids = new Numbers();
  /** Element that owns each piece of marked content, by page. */
  readonly #owners: number[][] = [];
  readonly #open: number[] = [];

  constructor() {
    this.open('Document');
  }

  open(role: StructureType, alt: string | null = null): void {
    const parent = this.#open.at(-1) ?? NONE;
    const element = this.#roles.push(role) - 1;
    this.#parents.push(parent);
    this.#firstKids.push(NONE);
    this.#lastKids.push(NONE);
    if (alt !== null) this.#alts.set(element, alt);
    if (parent !== NONE) this.#addKid(parent, NONE, element);
    this.#open.push(element);
  }

  close(): void {
    this.#open.pop();
  }

  /** Role of the innermost open element; null outside of all, where everything is an artifact. */
  get role(): StructureType | null {
    return this.#open.length > 1 ? (this.#roles[this.#open.at(-1) ?? 0] ?? null) : null;
  }

  /** Returns a number for a piece of content of the innermost open element. @param page from 0. */
  mark(page: number): number {
    const owner = this.#open.at(-1) ?? 0;
    let owners = this.#owners[page];
    if (owners === undefined) {
      owners = [];
      this.#owners[page] = owners;
    }
    const id = owners.push(owner) - 1;
    this.#addKid(owner, page, id);
    return id;
  }

  #addKid(parent: number, page: number, id: number): void {
    const kid = this.#nextKids.push(NONE);
    this.#pages.push(page);
    this.#ids.push(id);
    const last = this.#lastKids.at(parent);
    if (last === NONE) this.#firstKids.set(parent, kid);
    else this.#nextKids.set(last, kid);
    this.#lastKids.set(parent, kid);
  }

  #kidsOf(element: number): Kid[] {
    const kids: Kid[] = [];
    for (let kid = this.#firstKids.at(element); kid !== NONE; kid = this.#nextKids.at(kid)) {
      const [page, id] = [this.#pages.at(kid), this.#ids.at(kid)];
      kids.push(page === NONE ? { element: id } : { page, id });
    }
    return kids;
  }

  /** Adds the tree to the document after all pages exist. @returns the part of it that is still to be written. */
  complete(document: PDFDocument): ObjectBlock {
    const { context, catalog } = document;
    const pages = document.getPages();
    const root = context.nextRef();
    const first = root.objectNumber + 1;
    const next = first + this.#roles.length;
    context.largestObjectNumber = next + pages.length - 1;
    const numbers = pages.flatMap((_page, page) => [PDFNumber.of(page), PDFRef.of(next + page)]);
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

  /**
   * Yields the elements and, for each page, the owners of its content, as written in the file. @param pages references.
   */
  *#write(first: number, pages: readonly string[]): Generator<string> {
    for (const [element, role] of this.#roles.entries()) {
      const kids = this.#kidsOf(element);
      // Content of the element's own page is named by its number alone (PDF 32000-1 section 14.7.4.2).
      const own = kids.find((kid) => 'page' in kid)?.page;
      const written = kids.map((kid) => {
        if ('element' in kid) return refTo(first + kid.element);
        return kid.page === own ? String(kid.id) : `<</Type/MCR/Pg ${pages[kid.page]}/MCID ${kid.id}>>`;
      });
      const page = own === undefined ? '' : `/Pg ${pages[own]}`;
      const alt = this.#alts.get(element);
      const shown = alt === undefined ? '' : `/Alt ${PDFHexString.fromText(alt)}`;
      const scope = role === 'TH' ? '/A<</O/Table/Scope/Column>>' : '';
      const parent = refTo(first + this.#parents.at(element));
      yield `<</S/${role}/P ${parent}${page}${shown}${scope}/K[${written.join(' ')}]>>`;
    }
    for (const page of pages.keys())
      yield `[${(this.#owners[page] ?? []).map((number) => refTo(first + number)).join(' ')}]`;
  }
}

function refTo(number: number): string {
  return `${number} 0 R`;
}

/** List of 32-bit integers that costs four bytes each. */
export class Numbers {
  #values = new Int32Array(1024);
  #length = 0;

  /** @returns the index of the value. */
  push(value: number): number {
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(2 * this.#length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    return this.#length++;
  }

  at(place: number): number {
    return this.#values[place] ?? 0;
  }

  set(place: number, value: number): void {
    this.#values[place] = value;
  }
}

/** Named place in the document to which a reader can jump. */
export interface Bookmark {
  title: string;
  page: PDFRef;
  /** Upper edge of the view, in points from the bottom. */
  y: number;
}

/** Writes the bookmarks in one level (PDF 32000-1 section 12.3.3). */
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
