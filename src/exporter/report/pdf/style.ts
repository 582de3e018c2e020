import type { Color } from '../../../core/typesetting/canvas.ts';
import { GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import type { Sheet } from '../../../core/typesetting/sheet.ts';
import { type Column, Table } from '../../../core/typesetting/table.ts';
import type { Outcome } from '../../../verifier/records/outcome.ts';
import type { Tone } from '../view/outcome.ts';

const WHITE: Color = [1, 1, 1];
export const GREEN: Color = [0.08, 0.4, 0.24];
export const RED: Color = [0.7, 0.09, 0.11];
/** White text on this color has a contrast of 5:1. */
export const AMBER: Color = [0.66, 0.35, 0.0];
export const BAR: Color = [0.24, 0.43, 0.66];
export const PALE: Color = [0.955, 0.96, 0.97];
const PALE_GREEN: Color = [0.89, 0.95, 0.91];
const PALE_RED: Color = [0.98, 0.88, 0.88];
const PALE_AMBER: Color = [0.99, 0.93, 0.82];

/** Calm outcomes are dark text on a pale ground; the others are white text on full color. */
export const TONES: Record<Tone, { ground: Color; ink: Color; strong: Color }> = {
  calm: { ground: PALE_GREEN, ink: GREEN, strong: GREEN },
  alarm: { ground: RED, ink: WHITE, strong: RED },
  caution: { ground: AMBER, ink: WHITE, strong: AMBER },
};

export const OUTCOME_COLORS: Record<Outcome, { ground: Color; ink: Color; mark: string }> = {
  verified: { ground: PALE_GREEN, ink: GREEN, mark: '✓' },
  collected: { ground: PALE, ink: [0.24, 0.43, 0.66], mark: '•' },
  refuted: { ground: PALE_RED, ink: RED, mark: '✗' },
  incomplete: { ground: PALE_AMBER, ink: AMBER, mark: '!' },
  empty: { ground: PALE, ink: [0.38, 0.41, 0.45], mark: '–' },
};

/**
 * Line limit of names. A name of 300 characters fits even if every third character is a zero-width joiner shown as a
 * mark.
 */
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
