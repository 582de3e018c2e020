import { GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import type { Sheet } from '../../../core/typesetting/sheet.ts';
import { type Column, Table } from '../../../core/typesetting/table.ts';

/** A name of three hundred characters stands whole, also where each third one is the mark of what joins emoji. */
export const NAME_LINES = 40;

export function settings(sheet: Sheet) {
  const body: Setting = { style: sheet.styles.regular, size: 8, leading: 10.5, color: INK };
  const minor: Setting = { ...body, size: 7.5, leading: 10, color: GREY };
  const mono: Setting = { style: sheet.styles.mono, size: 6.5, leading: 9, color: GREY };
  return { body, minor, mono, strong: { ...body, style: sheet.styles.bold } };
}

export function drawTable(sheet: Sheet, columns: readonly Column[], work: (table: Table) => void): void {
  sheet.element('Table', () => {
    const table = new Table(sheet, columns);
    table.drawHead();
    work(table);
  });
  sheet.y -= 6;
}
