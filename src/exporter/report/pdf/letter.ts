import { setImmediate as nextTurn } from 'node:timers/promises';
import { grouped } from '../../../core/plurals.ts';
import { drawFact, drawParagraph, drawSection } from '../../../core/typesetting/blocks.ts';
import { setDocument } from '../../../core/typesetting/document.ts';
import { ACCENT, GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../../core/typesetting/sheet.ts';
import { Table } from '../../../core/typesetting/table.ts';
import type { LetterFile, LetterView } from '../view/letter.ts';
import type { Texts } from '../view/texts.ts';
import { drawOutcome } from './cover.ts';
import { TONES } from './palette.ts';
import { drawHowTo } from './sections.ts';

const BYTES_WIDTH = 84;
const NAME_LINES = 3;
const ROWS_A_TURN = 50;

/** The letter as a document. The same view gives the same bytes. */
export function renderLetterPdf(view: LetterView, { marks }: Pick<Texts, 'marks'>): Promise<Iterable<Uint8Array>> {
  const { title, organisation, runId, date, outcome, verify } = view;
  const facts = { title: `${title} · run ${runId}`, subject: organisation ?? runId, date: new Date(date) };
  return setDocument(facts, [view, marks], async (sheet) => {
    drawHead(sheet, view);
    drawHowTo(sheet, { verify });
    await drawFiles(sheet, view);
    if (sheet.hasMarks) drawParagraph(sheet, marks, { size: 7.5, leading: 10.5, color: GREY });
    return {
      head: `${title} · run ${runId}`,
      foot: runId,
      ...(outcome.tone === 'calm'
        ? {}
        : { alarm: { text: outcome.words.join(' · '), color: TONES[outcome.tone].strong } }),
    };
  });
}

function drawHead(sheet: Sheet, view: LetterView): void {
  const { bold } = sheet.styles;
  const label: Setting = { style: bold, size: 8, leading: 10, color: GREY };
  const title: Setting = { style: bold, size: 20, leading: 26, color: ACCENT };
  sheet.bookmark(view.title);
  sheet.element('P', () => sheet.flow(view.title.toUpperCase(), label));
  sheet.y -= 8;
  sheet.element('H1', () => sheet.flow(view.organisation ?? `Run ${view.runId}`, title));
  sheet.y -= 12;
  drawOutcome(sheet, view);
  sheet.y -= 18;
  for (const { label: name, lines, form } of view.facts) drawFact(sheet, name, lines, form);
  sheet.y -= 6;
  drawFact(sheet, view.digest.label, [view.digest.value], 'mono');
  drawParagraph(sheet, view.digest.text);
  for (const remark of view.remarks) drawParagraph(sheet, remark);
}

async function drawFiles(sheet: Sheet, { files }: LetterView): Promise<void> {
  const { introduction, clickable, list } = files;
  drawSection(sheet, 'Files');
  drawParagraph(sheet, clickable === null ? introduction : `${introduction} ${clickable}`);
  const table = new Table(sheet, [
    { head: 'File and its SHA-256', width: CONTENT_WIDTH - BYTES_WIDTH },
    { head: 'Bytes', width: BYTES_WIDTH, align: 'right' },
  ]);
  sheet.open('Table');
  table.drawHead();
  for (const [index, file] of list.entries()) {
    drawFile(sheet, table, file);
    // Thousands of rows take seconds, in which a signal to stop must be heard.
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
  }
  sheet.close();
}

function drawFile(sheet: Sheet, table: Table, { path, bytes, sha256, url }: LetterFile): void {
  const body: Setting = { style: sheet.styles.regular, size: 8, leading: 10.5, color: INK };
  const mono: Setting = { style: sheet.styles.mono, size: 7, leading: 9.5, color: GREY };
  const name: Setting = url === null ? body : { ...body, color: ACCENT, link: url };
  table.drawRow({
    cells: [
      [
        { text: path, setting: name, maxLines: NAME_LINES },
        { text: sha256, setting: mono, maxLines: 1 },
      ],
      [{ text: grouped(bytes), setting: body, maxLines: 1 }],
    ],
  });
}
