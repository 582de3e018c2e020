import { grouped } from '../../../core/plurals.ts';
import { drawHeading, drawParagraph, drawSection } from '../../../core/typesetting/blocks.ts';
import { GREY } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../../core/typesetting/sheet.ts';
import type { Column } from '../../../core/typesetting/table.ts';
import type { KindRow, SupplementsView } from '../view/supplements.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { AMBER, drawTable, GREEN, NAME_LINES, RED, settings } from './style.ts';

/** Draws the records of other services, and how far the evidence proves them. */
export function drawSupplements(
  sheet: Sheet,
  { proof: { supplements: view } }: RunView,
  { supplements: texts }: Texts,
): void {
  if (view === null) return;
  drawSection(sheet, texts.title, 150);
  drawParagraph(sheet, view.introduction);
  for (const { service, reason, nextStep } of view.missing) {
    drawHeading(sheet, `${texts.missing_title}: ${service}`, 60);
    drawParagraph(sheet, reason, { color: RED });
    drawParagraph(sheet, nextStep, { color: GREY });
  }
  if (view.kinds.length > 0) drawKinds(sheet, view.kinds);
  if (view.findings.length > 0) drawRemarks(sheet, view);
  else if (view.kinds.length > 0) drawParagraph(sheet, texts.none);
  for (const line of view.sources) drawParagraph(sheet, line, { size: 7.5, leading: 10, color: GREY });
}

function drawKinds(sheet: Sheet, kinds: readonly KindRow[]): void {
  const { body, strong } = settings(sheet);
  const count = (head: string): Column => ({ head, width: 72, align: 'right' });
  const columns: Column[] = [
    { head: 'Records', width: CONTENT_WIDTH - 360 },
    ...['In the period', 'By entry', 'Contradicted', 'Without entry', 'Unproved'].map(count),
  ];
  const number = (value: number, color: typeof GREY) => [
    { text: grouped(value), setting: { ...strong, color: value === 0 ? GREY : color }, maxLines: 1 },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { kind, service, inPeriod, proved, contradicted, noEntry, unproved } of kinds)
      table.drawRow({
        cells: [
          [{ text: `${kind} (${service})`, setting: body, maxLines: 2 }],
          [{ text: grouped(inPeriod), setting: strong, maxLines: 1 }],
          number(proved, GREEN),
          number(contradicted, RED),
          number(noEntry, RED),
          number(unproved, AMBER),
        ],
      });
  });
}

function drawRemarks(sheet: Sheet, { findings, more }: SupplementsView): void {
  const { body, minor, mono, strong } = settings(sheet);
  const columns = [
    { head: 'Record', width: 150 },
    { head: 'Entry', width: 96 },
    { head: 'What was found', width: CONTENT_WIDTH - 246 },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { severity, record, entry, message, values, nextStep } of findings)
      table.drawRow({
        cells: [
          [{ text: record, setting: body, maxLines: NAME_LINES }],
          [{ text: entry ?? '–', setting: body, maxLines: NAME_LINES }],
          [
            {
              text: severity.toUpperCase(),
              setting: { ...strong, color: severity === 'error' ? RED : AMBER },
              maxLines: 1,
            },
            { text: message, setting: body, maxLines: 10 },
            ...values.map(({ label, value }) => ({ text: `${label}: ${value}`, setting: mono, maxLines: 4 })),
            { text: nextStep, setting: minor, maxLines: 6 },
          ],
        ],
      });
    if (more !== null) table.drawRemark(more, minor);
  });
}
