import { type PDFDict, type PDFDocument, PDFHexString, PDFName, PDFNumber, PDFRef } from 'pdf-lib';
import type { ObjectBlock } from './writing.ts';

/** PDF 32000-1 section 14.8.4: the standard structure types that are used here. */
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

/** A child of an element: another element, or a piece of the content of a page. */
type Kid = { element: number } | { page: number; id: number };

const NONE = -1;

/**
 * The structure of the pages as a tree of headings, paragraphs, tables and figures, in the order in which it is read.
 * It has several elements for each cell of each table, so that of thousands of rows there are lists of numbers and no
 * objects.
 */
export class Structure {
  /** By the number of an element, in the order in which they were opened, each before its kids. */
  readonly #roles: StructureType[] = [];
  readonly #parents = new Numbers();
  readonly #firstKids = new Numbers();
  readonly #lastKids = new Numbers();
  /** Descriptions of figures, for people who do not see them. */
  readonly #alts = new Map<number, string>();
  /**
   * By the number of a kid: the one after it, and a piece of content as its page and id, an element as `NONE` and its
   * number.
   */
  readonly #nextKids = new Numbers();
  readonly #pages = new Numbers();
  readonly #ids = new Numbers();
  /** For each page, the element that each of its pieces of marked content belongs to. */
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

  /** The innermost open element; null outside of all, where there is only what is no content. */
  get role(): StructureType | null {
    return this.#open.length > 1 ? (this.#roles[this.#open.at(-1) ?? 0] ?? null) : null;
  }

  /** A number for a piece of content of the innermost open element. @param page from 0. */
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

  /** Puts the tree into the document, when all its pages are there. @returns what of it is still to be written. */
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

  /** The elements and, of each page, the owners of its content, as they stand in the file. @param pages references. */
  *#write(first: number, pages: readonly string[]): Generator<string> {
    for (const [element, role] of this.#roles.entries()) {
      const kids = this.#kidsOf(element);
      // PDF 32000-1 section 14.7.4.2: content of the element's own page is named by its number alone.
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

/** A list of whole numbers of 32 bits that costs four bytes for each. */
export class Numbers {
  #values = new Int32Array(1024);
  #length = 0;

  /** @returns its place. */
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
