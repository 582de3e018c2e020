import { grouped, plural } from '../../../core/plurals.ts';
import { drawHeading, drawParagraph, drawSection } from '../../../core/typesetting/blocks.ts';
import { GREY } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../../core/typesetting/sheet.ts';
import type { Cell } from '../../../core/typesetting/table.ts';
import type { ControlView } from '../view/controls.ts';
import { fill } from '../view/sentences.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { drawTable, RED, settings } from './style.ts';

export function drawControls(sheet: Sheet, { frameworks }: RunView, texts: Texts): void {
  drawSection(sheet, 'Control mapping', frameworks.length === 0 ? 40 : 240);
  if (frameworks.length === 0) {
    drawParagraph(sheet, texts.controls.none);
    return;
  }
  drawParagraph(sheet, texts.controls.introduction);
  const columns = [
    { head: 'Control', width: 130 },
    { head: 'What the evidence speaks to, and where it ends', width: CONTENT_WIDTH - 280 },
    { head: 'In this run', width: 150 },
  ];
  for (const { framework, note, controls } of frameworks) {
    drawHeading(sheet, framework, 150);
    if (note !== null) drawParagraph(sheet, note, { color: GREY, size: 8, leading: 11 });
    drawTable(sheet, columns, (table) => {
      for (const control of controls) table.drawRow({ cells: cellsOf(sheet, control, texts) });
    });
  }
}

function cellsOf(sheet: Sheet, control: ControlView, texts: Texts): Cell[][] {
  const { body, minor, strong } = settings(sheet);
  const { id, title, speaksTo, doesNotShow, streams, refuted, claims } = control;
  const alarm = { ...strong, color: RED };
  const refutedIn = fill(texts.controls.refuted, { streams: plural(refuted, 'stream') });
  return [
    [
      { text: id, setting: strong, maxLines: 2 },
      { text: title, setting: minor, maxLines: 6 },
    ],
    [
      { text: speaksTo, setting: body, maxLines: 10 },
      { text: `Does not show: ${doesNotShow}`, setting: minor, maxLines: 8 },
    ],
    [
      { text: `${plural(streams, 'stream')} with entries`, setting: body, maxLines: 1 },
      ...claims.map(({ name, proved }) => ({
        text: `${name} proved in ${grouped(proved)}`,
        setting: minor,
        maxLines: 1,
      })),
      ...(refuted === 0 ? [] : [{ text: refutedIn, setting: alarm, maxLines: 4 }]),
    ],
  ];
}
