import { PDFDocument, PDFName, PDFString } from 'pdf-lib';
import { drawParagraph } from '../../typesetting/blocks.ts';
import { embedStylesFor } from '../../typesetting/fonts.ts';
import { GREY, Sheet } from '../../typesetting/sheet.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { drawCharts, drawCoverage } from './charts.ts';
import { drawCover } from './cover.ts';
import { TONES } from './palette.ts';
import {
  drawClaims,
  drawControls,
  drawCustody,
  drawExceptions,
  drawFindings,
  drawHowTo,
  drawIpe,
  drawLimits,
} from './sections.ts';
import { drawStreams } from './streams.ts';

const PRODUCER = 'evidence-exporter';

/**
 * The run as an A4 document: tagged, with bookmarks, in fonts that it carries itself. The same view gives the same
 * bytes.
 */
export async function renderPdf(view: RunView, texts: Texts): Promise<Uint8Array> {
  const document = await PDFDocument.create({ updateMetadata: false });
  describe(document, view, texts);
  const sheet = new Sheet(document, await embedStylesFor(document, charactersOf([view, texts])), true);
  drawCover(sheet, view, texts);
  sheet.newPage();
  drawIpe(sheet, view, texts);
  drawExceptions(sheet, view);
  drawClaims(sheet, view, texts);
  drawFindings(sheet, view, texts);
  drawCharts(sheet, view);
  drawCoverage(sheet, view, texts);
  drawCustody(sheet, view, texts);
  drawLimits(sheet, view);
  drawHowTo(sheet, texts);
  drawControls(sheet, view, texts);
  sheet.newPage();
  await drawStreams(sheet, view, texts);
  if (sheet.hasMarks) drawParagraph(sheet, texts.marks, { size: 7.5, leading: 10.5, color: GREY });
  const { words, tone } = view.outcome;
  const title = [texts.title, view.organisation, `run ${view.runId}`].filter((part) => part !== null).join(' · ');
  sheet.finish({
    head: title,
    foot: view.runId,
    ...(tone === 'calm' ? {} : { alarm: { text: words.join(' · '), color: TONES[tone].strong } }),
  });
  // pdf-lib takes time with the square of the number of objects to put them into object streams.
  return document.save({ useObjectStreams: false });
}

/** Every character of every text in a value. */
function charactersOf(value: unknown, into = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    for (const character of value.toWellFormed().normalize('NFC')) into.add(character);
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) charactersOf(member, into);
  }
  return into;
}

/** The date is that of the run, because the same run gives the same bytes whenever it is set. */
function describe(document: PDFDocument, { runId, organisation, period, finishedAt }: RunView, { title }: Texts): void {
  const date = new Date(finishedAt);
  document.setTitle(`${title} · ${organisation ?? ''} run ${runId}`, { showInWindowTitleBar: true });
  document.setSubject(period);
  document.setCreator(PRODUCER);
  document.setProducer(PRODUCER);
  document.setCreationDate(date);
  document.setModificationDate(date);
  document.catalog.set(PDFName.of('Lang'), PDFString.of('en'));
}
