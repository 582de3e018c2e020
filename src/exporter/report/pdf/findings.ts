import { grouped, plural } from '../../../core/plurals.ts';
import { drawHeading, drawParagraph, drawSection } from '../../../core/typesetting/blocks.ts';
import { GREY } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../../core/typesetting/sheet.ts';
import type { FindingGroup } from '../view/findings.ts';
import { fill } from '../view/sentences.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { AMBER, drawTable, NAME_LINES, RED, settings } from './style.ts';

const SEVERITY_COLORS = { error: RED, warning: AMBER, notice: GREY } as const;

export function drawFindings(sheet: Sheet, { proof: { findings } }: RunView, texts: Texts): void {
  drawSection(sheet, 'Findings', findings.groups.length === 0 ? 40 : 250);
  if (findings.groups.length === 0) {
    drawParagraph(sheet, findings.none);
    return;
  }
  const values = { findings: plural(findings.total, 'finding'), streams: plural(findings.streams, 'stream') };
  drawParagraph(sheet, fill(texts.findings.introduction, values));
  for (const group of findings.groups) drawGroup(sheet, group, texts);
}

function drawGroup(sheet: Sheet, group: FindingGroup, texts: Texts): void {
  const { body, minor, mono } = settings(sheet);
  drawHeading(sheet, `${group.code} · ${plural(group.streams, 'stream')}`, 170);
  const color = SEVERITY_COLORS[group.severity];
  drawParagraph(sheet, `${group.severity.toUpperCase()}. ${group.meaning}`, { color });
  const columns = [
    { head: 'Stream', width: 150 },
    { head: 'Where', width: 66 },
    { head: 'What was found', width: CONTENT_WIDTH - 216 },
  ];
  drawTable(sheet, columns, (table) => {
    for (const { streamId, place, message, entry, values } of group.shown)
      table.drawRow({
        cells: [
          [{ text: streamId, setting: body, maxLines: NAME_LINES }],
          [{ text: place, setting: body, maxLines: 3 }],
          [
            { text: message, setting: body, maxLines: 10 },
            ...(entry === null ? [] : [{ text: entry, setting: minor, maxLines: 6 }]),
            ...values.map(({ label, value }) => ({ text: `${label}: ${value}`, setting: mono, maxLines: 4 })),
          ],
        ],
      });
    const more = group.findings - group.shown.length;
    if (more > 0) table.drawRemark(fill(texts.findings.more, { count: grouped(more) }), minor);
  });
}
