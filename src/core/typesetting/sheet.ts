import { PageSizes, type PDFDocument } from 'pdf-lib';
import { Canvas, type Color } from './canvas.ts';
import type { Styles } from './fonts.ts';
import { type Paragraph, type SetLine, setParagraph } from './paragraph.ts';
import { GREY, HAIRLINE, type Setting } from './setting.ts';
import { type Bookmark, Structure, type StructureType, writeOutline } from './structure.ts';
import type { ObjectBlock } from './writing.ts';

const [PAGE_WIDTH, PAGE_HEIGHT] = PageSizes.A4;
const MARGIN = { left: 51, right: 51, top: 62, bottom: 68 };
const RULE_WIDTH = 0.5;
const MARK_PADDING = 0.8;

export const LEFT = MARGIN.left;
export const CONTENT_WIDTH = PAGE_WIDTH - MARGIN.left - MARGIN.right;
export const RIGHT = LEFT + CONTENT_WIDTH;
/** Lowest point that the text of a page may reach. */
export const BOTTOM = MARGIN.bottom;
const TOP = PAGE_HEIGHT - MARGIN.top;
const MARK_GROUND: Color = [0.93, 0.9, 0.82];

export type Align = 'left' | 'centre' | 'right';
/** Share of a line that is left of the `x` to which it is aligned. */
const SHARE_BEFORE: Record<Align, number> = { left: 0, centre: 0.5, right: 1 };

/** Number of lines of a paragraph that stay together at its beginning and at its end. */
const TOGETHER = 2;

/** Returns the number of a paragraph's lines that stay with its first: all, if one would otherwise be left alone. */
export function linesTogether(lines: number): number {
  return lines <= TOGETHER + 1 ? lines : TOGETHER;
}

/** Content of every page's margins, set once the number of pages is known. */
export interface Furniture {
  /** Head of every page but the first, whose title states it. */
  head: string;
  foot: string;
  /** Highlighted text at the right of the head, on every page but the first. */
  alarm?: { text: string; color: Color };
}

/** Pages filled from the top down. `y` is the place of the next element; on a page, it only moves down. */
// Over ten members: the single pen, which every drawing moves.
export class Sheet {
  readonly styles: Styles;
  y = TOP;
  /** True if any character so far was set as a mark. */
  hasMarks = false;
  readonly #document: PDFDocument;
  readonly #canvases: Canvas[] = [];
  #canvas: Canvas;
  /** Null for a document without tags. */
  readonly #structure: Structure | null;
  /** True inside content that is already one piece. */
  #isMarked = false;
  readonly #bookmarks: Bookmark[] = [];

  /** @param tagged true to describe headings, paragraphs, tables and figures to screen readers. */
  constructor(document: PDFDocument, styles: Styles, tagged = false) {
    this.#document = document;
    this.styles = styles;
    this.#structure = tagged ? new Structure() : null;
    this.#canvas = this.#addPage();
  }

  #addPage(): Canvas {
    const canvas = new Canvas(this.#document.addPage([PAGE_WIDTH, PAGE_HEIGHT]));
    this.#canvases.push(canvas);
    return canvas;
  }

  newPage(): void {
    this.#canvas.flush();
    this.#canvas = this.#addPage();
    this.y = TOP;
  }

  get isAtTop(): boolean {
    return this.y === TOP;
  }

  /** Starts a page unless `height` points are left on this one; returns true if it did. */
  makeRoom(height: number): boolean {
    if (this.y - height >= BOTTOM) return false;
    this.newPage();
    return true;
  }

  /** Adds a bookmark for this place. */
  bookmark(title: string): void {
    this.#bookmarks.push({ title, page: this.#canvas.ref, y: Math.min(this.y + 24, PAGE_HEIGHT) });
  }

  /** Draws an element of this role. */
  element(role: StructureType, work: () => void, alt: string | null = null): void {
    this.open(role, alt);
    work();
    this.close();
  }

  /** Begins an element that takes more than one call; `close` must follow. */
  open(role: StructureType, alt: string | null = null): void {
    this.#structure?.open(role, alt);
  }

  close(): void {
    this.#structure?.close();
  }

  /** Draws a picture, whose parts have a meaning only together. @param alt description of the picture. */
  figure(alt: string, work: () => void): void {
    this.element('Figure', () => this.#mark(work), alt);
  }

  set(text: string, setting: Setting, width: number, maxLines = Number.POSITIVE_INFINITY): Paragraph {
    return setParagraph(text, setting.style, setting.size, width, maxLines);
  }

  /** Draws set lines with the first baseline at `baseline`; `x` is their left edge, right edge or middle. */
  draw(paragraph: Paragraph, setting: Setting, x: number, baseline: number, align: Align = 'left'): void {
    this.hasMarks ||= paragraph.hasMarks;
    this.#mark(() =>
      paragraph.lines.forEach((line, index) => {
        const start = x - line.width * setting.size * SHARE_BEFORE[align];
        const y = baseline - index * setting.leading;
        drawLine(this.#canvas, line, setting, start, y);
        const { link, size } = setting;
        if (link !== undefined) this.#canvas.link(start, y - size * 0.22, line.width * size, size * 1.08, link);
      }),
    );
  }

  /** Draws one line that runs upward from `y`. */
  drawUpright(paragraph: Paragraph, { size, color }: Setting, x: number, y: number): void {
    this.#mark(() => {
      let at = y;
      for (const run of paragraph.lines[0]?.runs ?? []) {
        this.#canvas.text(run, size, color, x, at, 'upright');
        at += run.width * size;
      }
    });
  }

  /** Draws a paragraph at `x` and `y` that continues on the next page if this one ends. */
  flow(text: string, setting: Setting, x = LEFT, width = CONTENT_WIDTH - (x - LEFT)): void {
    const paragraph = this.set(text, setting, width);
    const count = paragraph.lines.length;
    for (const [index, line] of paragraph.lines.entries()) {
      const together = index === 0 ? linesTogether(count) : index === count - TOGETHER ? TOGETHER : 1;
      this.makeRoom(together * setting.leading);
      this.y -= setting.leading;
      this.draw({ lines: [line], hasMarks: paragraph.hasMarks }, setting, x, this.y);
    }
  }

  /** Draws an artifact: decoration, or a repetition, which is no content. */
  artifact(work: () => void): void {
    this.#decorate(() => {
      const outer = this.#isMarked;
      this.#isMarked = true;
      work();
      this.#isMarked = outer;
    });
  }

  rule(y: number, color: Color = HAIRLINE, from = LEFT, to = RIGHT): void {
    this.#decorate(() => this.#canvas.line(from, y, to, y, RULE_WIDTH, color));
  }

  /** @param y of the lower edge. */
  box(x: number, y: number, width: number, height: number, color: Color): void {
    this.#decorate(() => this.#canvas.rectangle(x, y, width, height, color));
  }

  /** Draws the margins of all pages; call last. @returns the parts of a tagged document that remain to be written. */
  finish({ head, foot, alarm }: Furniture): ObjectBlock | null {
    const small: Setting = { style: this.styles.regular, size: 7, leading: 9, color: GREY };
    const mono: Setting = { ...small, style: this.styles.mono };
    const pages = this.#canvases.length;
    this.#canvases.forEach((canvas, index) => {
      this.#canvas = canvas;
      if (index > 0) {
        const room = CONTENT_WIDTH - (alarm === undefined ? 0 : this.#drawAlarm(alarm));
        this.draw(this.set(head, small, room, 1), small, LEFT, TOP + 22);
        this.rule(TOP + 16);
      }
      const number = this.set(`Page ${index + 1} of ${pages}`, small, CONTENT_WIDTH, 1);
      this.rule(BOTTOM - 16);
      this.draw(this.set(foot, mono, CONTENT_WIDTH - 90, 1), mono, LEFT, BOTTOM - 28);
      this.draw(number, small, RIGHT, BOTTOM - 28, 'right');
      canvas.flush();
    });
    const block = this.#structure?.complete(this.#document) ?? null;
    writeOutline(this.#document, this.#bookmarks);
    return block;
  }

  /** @returns the width of the alarm. */
  #drawAlarm({ text, color }: NonNullable<Furniture['alarm']>): number {
    const setting: Setting = { style: this.styles.bold, size: 7, leading: 9, color: [1, 1, 1] };
    const paragraph = this.set(text, setting, CONTENT_WIDTH, 1);
    const width = (paragraph.lines[0]?.width ?? 0) * setting.size + 10;
    this.box(RIGHT - width, TOP + 18.5, width, 12, color);
    this.draw(paragraph, setting, RIGHT - 5, TOP + 22, 'right');
    return width + 8;
  }

  /** Draws content of the innermost open element; outside of all elements, the content is an artifact. */
  #mark(work: () => void): void {
    const structure = this.#structure;
    if (structure === null || this.#isMarked) {
      work();
      return;
    }
    const { role } = structure;
    if (role === null) this.#canvas.beginArtifact();
    else this.#canvas.beginMarked(role, structure.mark(this.#canvases.length - 1));
    this.#isMarked = true;
    work();
    this.#isMarked = false;
    this.#canvas.endMarked();
  }

  /** Draws decoration: an artifact, unless it is part of a picture. */
  #decorate(work: () => void): void {
    const isArtifact = this.#structure !== null && !this.#isMarked;
    if (isArtifact) this.#canvas.beginArtifact();
    work();
    if (isArtifact) this.#canvas.endMarked();
  }
}

function drawLine(canvas: Canvas, line: SetLine, { size, color }: Setting, x: number, y: number): void {
  let at = x;
  for (const run of line.runs) {
    // The background distinguishes a mark from text that merely looks like one.
    if (run.isMark)
      canvas.rectangle(
        at - MARK_PADDING / 2,
        y - size * 0.22,
        run.width * size + MARK_PADDING,
        size * 1.08,
        MARK_GROUND,
      );
    canvas.text(run, size, color, at, y);
    at += run.width * size;
  }
}
