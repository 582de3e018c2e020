import { ACCENT, GREY, type Setting } from './setting.ts';
import { type Align, LEFT, RIGHT, type Sheet } from './sheet.ts';

const PADDING = { above: 4, below: 4, between: 9 };

export interface Column {
  head: string;
  /** Width in points, including the gap to the next column. */
  width: number;
  align?: Align;
  /** True if the head runs upward, over a column that is narrower than the head. */
  upright?: boolean;
}

export interface Cell {
  text: string;
  setting: Setting;
  maxLines: number;
}

export interface Row {
  /** Cells of each column, from top to bottom. */
  cells: Cell[][];
  /** Lines below the cells of the first `under` columns, `indent` points from the left. */
  below?: { lines: readonly string[]; setting: Setting; indent: number; under: number };
}

type Below = NonNullable<Row['below']>;
type Paragraph = ReturnType<Sheet['set']>;

/** Maximum number of lines below; further names of a certificate are cut off. */
const MAX_LINES_BELOW = 6;

/** Draws rows under a head that is repeated on each page. A row is never broken over two pages. */
export class Table {
  readonly #sheet: Sheet;
  readonly #columns: readonly Column[];
  readonly #head: Setting;

  constructor(sheet: Sheet, columns: readonly Column[]) {
    this.#sheet = sheet;
    this.#columns = columns;
    this.#head = { style: sheet.styles.bold, size: 7, leading: 9, color: GREY };
  }

  /** @param firstRow height in points that must fit below the head, so that it does not end a page. */
  drawHead(firstRow = 40): void {
    const height = this.#headHeight();
    this.#sheet.makeRoom(height + firstRow);
    const baseline = this.#sheet.y - height + PADDING.below;
    this.#sheet.element('TR', () =>
      this.#columns.forEach((column, index) => {
        const { head } = column;
        this.#sheet.element('TH', () => {
          if (column.upright === true) {
            const x = this.#edgeOf(index) + this.#head.size * 0.35;
            this.#sheet.drawUpright(this.#sheet.set(head, this.#head, 1000, 1), this.#head, x, baseline + 1);
          } else {
            const paragraph = this.#sheet.set(head, this.#head, this.#widthOf(index), 1);
            this.#sheet.draw(paragraph, this.#head, this.#edgeOf(index), baseline, column.align);
          }
        });
      }),
    );
    this.#sheet.y = baseline - PADDING.below;
    this.#sheet.rule(this.#sheet.y, ACCENT);
  }

  drawRow(row: Row): void {
    const columns = row.cells.map((cells, index) =>
      cells.map((cell) => ({
        setting: cell.setting,
        paragraph: this.#sheet.set(cell.text, cell.setting, this.#widthOf(index), cell.maxLines),
      })),
    );
    const heights = columns.map((cells) =>
      cells.reduce((sum, { paragraph, setting }) => sum + paragraph.lines.length * setting.leading, 0),
    );
    const { below } = row;
    const depth = Math.max(...heights.slice(0, below?.under));
    const paragraphs = below === undefined ? [] : this.#setBelow(below);
    const belowHeight = paragraphs.reduce((sum, { lines }) => sum + lines.length, 0) * (below?.setting.leading ?? 0);
    const height = Math.max(...heights, depth + belowHeight) + PADDING.above + PADDING.below;
    if (this.#sheet.makeRoom(height)) this.#repeatHead();
    const top = this.#sheet.y - PADDING.above;
    this.#sheet.element('TR', () => {
      columns.forEach((cells, index) => {
        let y = top;
        this.#sheet.element('TD', () => {
          for (const { paragraph, setting } of cells) {
            const { align } = this.#columns[index] ?? {};
            this.#sheet.draw(paragraph, setting, this.#edgeOf(index), y - setting.leading * 0.8, align);
            y -= paragraph.lines.length * setting.leading;
          }
          if (index === 0 && below !== undefined) this.#drawBelow(below, paragraphs, top - depth);
        });
      });
    });
    this.#sheet.y -= height;
    this.#sheet.rule(this.#sheet.y);
  }

  /** Draws a remark in place of rows. */
  drawRemark(text: string, setting: Setting): void {
    const paragraph = this.#sheet.set(text, setting, RIGHT - LEFT);
    const height = paragraph.lines.length * setting.leading + 2 * (PADDING.above + PADDING.below);
    if (this.#sheet.makeRoom(height)) this.#repeatHead();
    this.#sheet.draw(paragraph, setting, LEFT, this.#sheet.y - 2 * PADDING.above - setting.leading * 0.8);
    this.#sheet.y -= height;
    this.#sheet.rule(this.#sheet.y);
  }

  #setBelow({ lines, setting, indent }: Below): Paragraph[] {
    return lines.map((line) => this.#sheet.set(line, setting, RIGHT - LEFT - indent, MAX_LINES_BELOW));
  }

  #drawBelow({ setting, indent }: Below, paragraphs: readonly Paragraph[], from: number): void {
    let y = from;
    for (const paragraph of paragraphs) {
      this.#sheet.draw(paragraph, setting, LEFT + indent, y - setting.leading * 0.8);
      y -= paragraph.lines.length * setting.leading;
    }
  }

  #repeatHead(): void {
    this.#sheet.artifact(() => this.drawHead());
  }

  #headHeight(): number {
    const upright = this.#columns.filter((column) => column.upright === true);
    const lengths = upright.map(({ head }) => this.#sheet.set(head, this.#head, 1000, 1).lines[0]?.width ?? 0);
    const highest = Math.max(this.#head.leading, ...lengths.map((length) => length * this.#head.size + 1));
    return highest + PADDING.above + PADDING.below;
  }

  /** Returns the width for text, without the gap to the next column. */
  #widthOf(index: number): number {
    const { width = 0, align } = this.#columns[index] ?? {};
    return index === this.#columns.length - 1 || align === 'centre' ? width : width - PADDING.between;
  }

  /** Returns the edge to which the text of a column is aligned. */
  #edgeOf(index: number): number {
    const left = LEFT + this.#columns.slice(0, index).reduce((sum, column) => sum + column.width, 0);
    const { align } = this.#columns[index] ?? {};
    if (align === undefined || align === 'left') return left;
    return left + this.#widthOf(index) / (align === 'centre' ? 2 : 1);
  }
}
