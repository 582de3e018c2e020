import { ACCENT, GREY, LEFT, RIGHT, type Setting, type Sheet } from './sheet.ts';

const PADDING = { above: 4, below: 4, between: 9 };

export interface Column {
  head: string;
  /** In points, the gap to the next column included. */
  width: number;
  align?: 'left' | 'right';
}

export interface Cell {
  text: string;
  setting: Setting;
  maxLines: number;
}

export interface Row {
  /** Of each column, what stands in it, one below the other. */
  cells: Cell[][];
  /** One line below the cells of the first `under` columns, `indent` points from the left. */
  below?: { text: string; setting: Setting; indent: number; under: number };
}

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

  /** @param firstRow in points: the head does not stand alone at the end of a page. */
  drawHead(firstRow = 40): void {
    const height = this.#head.leading + PADDING.above + PADDING.below;
    this.#sheet.makeRoom(height + firstRow);
    const baseline = this.#sheet.y - this.#head.leading;
    this.#columns.forEach((column, index) => {
      const paragraph = this.#sheet.set(column.head, this.#head, this.#widthOf(index), 1);
      this.#sheet.draw(paragraph, this.#head, this.#edgeOf(index), baseline, column.align);
    });
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
    const below = row.below;
    const depth = Math.max(...heights.slice(0, below?.under));
    const height = Math.max(...heights, depth + (below?.setting.leading ?? 0)) + PADDING.above + PADDING.below;
    if (this.#sheet.makeRoom(height)) this.drawHead();
    const top = this.#sheet.y - PADDING.above;
    columns.forEach((cells, index) => {
      let y = top;
      for (const { paragraph, setting } of cells) {
        this.#sheet.draw(
          paragraph,
          setting,
          this.#edgeOf(index),
          y - setting.leading * 0.8,
          this.#columns[index]?.align,
        );
        y -= paragraph.lines.length * setting.leading;
      }
    });
    if (below !== undefined) {
      const x = LEFT + below.indent;
      const baseline = top - depth - below.setting.leading * 0.8;
      this.#sheet.draw(this.#sheet.set(below.text, below.setting, RIGHT - x, 1), below.setting, x, baseline);
    }
    this.#sheet.y -= height;
    this.#sheet.rule(this.#sheet.y);
  }

  /** A remark in the place of rows. */
  drawRemark(text: string, setting: Setting): void {
    const paragraph = this.#sheet.set(text, setting, RIGHT - LEFT);
    const height = paragraph.lines.length * setting.leading + 2 * (PADDING.above + PADDING.below);
    if (this.#sheet.makeRoom(height)) this.drawHead();
    this.#sheet.draw(paragraph, setting, LEFT, this.#sheet.y - 2 * PADDING.above - setting.leading * 0.8);
    this.#sheet.y -= height;
    this.#sheet.rule(this.#sheet.y);
  }

  /** Room for text: the gap to the next column is not. */
  #widthOf(index: number): number {
    const width = this.#columns[index]?.width ?? 0;
    return index === this.#columns.length - 1 ? width : width - PADDING.between;
  }

  /** The left edge of a column, or the right edge of one that is aligned there. */
  #edgeOf(index: number): number {
    const left = LEFT + this.#columns.slice(0, index).reduce((sum, column) => sum + column.width, 0);
    return this.#columns[index]?.align === 'right' ? left + this.#widthOf(index) : left;
  }
}
