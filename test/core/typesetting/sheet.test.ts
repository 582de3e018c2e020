import { PDFDocument } from 'pdf-lib';
import { beforeEach, expect, test, vi } from 'vitest';
import { drawFact } from '../../../src/core/typesetting/blocks.ts';
import { embedStyles } from '../../../src/core/typesetting/fonts.ts';
import { INK, type Setting } from '../../../src/core/typesetting/setting.ts';
import { BOTTOM, Sheet } from '../../../src/core/typesetting/sheet.ts';

const LEADING = 12.5;
let sheet: Sheet;
/** Drawn paragraphs, with page and size. */
let drawn: { page: number; size: number }[];

beforeEach(async () => {
  const document = await PDFDocument.create({ updateMetadata: false });
  sheet = new Sheet(document, await embedStyles(document));
  drawn = [];
  vi.spyOn(sheet, 'draw').mockImplementation((_paragraph, { size }) => {
    drawn.push({ page: document.getPageCount(), size });
  });
});

const pagesOf = () => drawn.map(({ page }) => page);

test.each<[lines: number, room: number, pages: number[]]>([
  [1, 1, [1]],
  [2, 1, [2, 2]],
  [3, 2, [2, 2, 2]],
  [4, 3, [1, 1, 2, 2]],
  [5, 4, [1, 1, 1, 2, 2]],
  [5, 1, [2, 2, 2, 2, 2]],
  [5, 5, [1, 1, 1, 1, 1]],
])('of %d lines with room for %d none stands alone', (lines, room, pages) => {
  const setting: Setting = { style: sheet.styles.regular, size: 9, leading: LEADING, color: INK };
  sheet.y = BOTTOM + room * LEADING + 1;
  sheet.flow(Array(lines).fill('w'.repeat(60)).join(' '), setting);
  expect(pagesOf()).toEqual(pages);
});

test('a label goes where its lines go', () => {
  sheet.y = BOTTOM + 2 * LEADING;
  drawFact(sheet, 'Integrity', [Array(3).fill('w'.repeat(45)).join(' ')], 'text');
  expect(pagesOf()).toEqual([2, 2, 2, 2]);
});

test('lines of one fact are of one size, which no line sets that is broken in any', () => {
  const sizeOf = (...lines: string[]) => {
    drawn = [];
    drawFact(sheet, 'Requests', lines, 'mono');
    return new Set(drawn.slice(1).map(({ size }) => size));
  };
  expect(sizeOf('GET /short')).toEqual(new Set([8.5]));
  const smaller = sizeOf('GET /short', `GET /${'a'.repeat(80)}`);
  expect([...smaller]).toEqual([expect.closeTo(7.5, 0)]);
  expect(sizeOf('GET /short', `GET /${'a'.repeat(300)}`)).toEqual(new Set([8.5]));
});
