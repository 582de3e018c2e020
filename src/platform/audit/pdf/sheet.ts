import { type Color, PageSizes, type PDFDocument, type PDFPage, rgb } from 'pdf-lib';
import type { Style, Styles } from './fonts.ts';
import { type Paragraph, type SetLine, setParagraph } from './paragraph.ts';

const [PAGE_WIDTH, PAGE_HEIGHT] = PageSizes.A4;
const MARGIN = { left: 51, right: 51, top: 62, bottom: 68 };
const RULE_WIDTH = 0.5;
const MARK_PADDING = 0.8;

export const LEFT = MARGIN.left;
export const CONTENT_WIDTH = PAGE_WIDTH - MARGIN.left - MARGIN.right;
export const RIGHT = LEFT + CONTENT_WIDTH;
/** The lowest point that text of a page may reach. */
export const BOTTOM = MARGIN.bottom;
const TOP = PAGE_HEIGHT - MARGIN.top;

export const INK = rgb(0.1, 0.11, 0.13);
export const GREY = rgb(0.38, 0.41, 0.45);
export const ACCENT = rgb(0.09, 0.24, 0.44);
const HAIRLINE = rgb(0.78, 0.8, 0.83);
const MARK_GROUND = rgb(0.93, 0.9, 0.82);

export interface Setting {
  style: Style;
  size: number;
  /** From one baseline to the next, in points. */
  leading: number;
  color: Color;
}

/** What is set into the margins of every page once it is known how many there are. */
export interface Furniture {
  /** Not on the first page, whose title says it. */
  head: string;
  foot: string;
}

/** Pages filled from the top down. `y` is where the next thing begins; it only ever goes down on a page. */
export class Sheet {
  readonly styles: Styles;
  y = TOP;
  /** Whether any character so far was set as a mark. */
  hasMarks = false;
  readonly #document: PDFDocument;
  #page: PDFPage;

  constructor(document: PDFDocument, styles: Styles) {
    this.#document = document;
    this.styles = styles;
    this.#page = document.addPage([PAGE_WIDTH, PAGE_HEIGHT]);
  }

  newPage(): void {
    this.#page = this.#document.addPage([PAGE_WIDTH, PAGE_HEIGHT]);
    this.y = TOP;
  }

  /** Starts a page unless `height` points are left on this one; whether it did. */
  makeRoom(height: number): boolean {
    if (this.y - height >= BOTTOM) return false;
    this.newPage();
    return true;
  }

  set(text: string, setting: Setting, width: number, maxLines = Number.POSITIVE_INFINITY): Paragraph {
    return setParagraph(text, setting.style, setting.size, width, maxLines);
  }

  /** Draws set lines with their first baseline at `baseline`, flush with `x` on the left or, if asked, on the right. */
  draw(paragraph: Paragraph, setting: Setting, x: number, baseline: number, align: 'left' | 'right' = 'left'): void {
    this.hasMarks ||= paragraph.hasMarks;
    paragraph.lines.forEach((line, index) => {
      const start = align === 'left' ? x : x - line.width * setting.size;
      drawLine(this.#page, line, setting, start, baseline - index * setting.leading);
    });
  }

  /** A paragraph at `x` and at `y`, going on on the next page where this one ends. */
  flow(text: string, setting: Setting, x = LEFT, width = CONTENT_WIDTH - (x - LEFT)): void {
    const paragraph = this.set(text, setting, width);
    for (const line of paragraph.lines) {
      this.makeRoom(setting.leading);
      this.y -= setting.leading;
      this.draw({ lines: [line], hasMarks: paragraph.hasMarks }, setting, x, this.y);
    }
  }

  rule(y: number, color: Color = HAIRLINE, from = LEFT, to = RIGHT): void {
    this.#page.drawLine({ start: { x: from, y }, end: { x: to, y }, thickness: RULE_WIDTH, color });
  }

  /** Running heads, page numbers and the foot, on all pages. */
  furnish({ head, foot }: Furniture): void {
    const small: Setting = { style: this.styles.regular, size: 7, leading: 9, color: GREY };
    const mono: Setting = { ...small, style: this.styles.mono };
    const pages = this.#document.getPages();
    pages.forEach((page, index) => {
      this.#page = page;
      if (index > 0) {
        this.draw(this.set(head, small, CONTENT_WIDTH, 1), small, LEFT, TOP + 22);
        this.rule(TOP + 16);
      }
      const number = this.set(`Page ${index + 1} of ${pages.length}`, small, CONTENT_WIDTH, 1);
      this.rule(BOTTOM - 16);
      this.draw(this.set(foot, mono, CONTENT_WIDTH - 90, 1), mono, LEFT, BOTTOM - 28);
      this.draw(number, small, RIGHT, BOTTOM - 28, 'right');
    });
  }
}

function drawLine(page: PDFPage, line: SetLine, { size, color }: Setting, x: number, y: number): void {
  let at = x;
  for (const { text, face, isMark, width } of line.runs) {
    if (isMark) {
      // The ground tells a mark from text that merely reads like one.
      const box = {
        x: at - MARK_PADDING / 2,
        y: y - size * 0.22,
        width: width * size + MARK_PADDING,
        height: size * 1.08,
      };
      page.drawRectangle({ ...box, color: MARK_GROUND });
    }
    page.drawText(text, { x: at, y, size, font: face.pdf, color });
    at += width * size;
  }
}
