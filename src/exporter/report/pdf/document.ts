import { drawParagraph } from '../../../core/typesetting/blocks.ts';
import { setDocument } from '../../../core/typesetting/document.ts';
import { GREY } from '../../../core/typesetting/setting.ts';
import { listedStreams } from '../view/stream-facts.ts';
import type { Texts } from '../view/texts.ts';
import type { RunView } from '../view/view.ts';
import { drawCharts, drawCoverage } from './charts.ts';
import { drawControls } from './controls.ts';
import { drawCover } from './cover.ts';
import { drawFindings } from './findings.ts';
import {
  drawClaims,
  drawCustody,
  drawExceptions,
  drawHowTo,
  drawIpe,
  drawLate,
  drawLimits,
  drawPopulation,
  drawPreparer,
  drawSignature,
} from './sections.ts';
import { drawStreams, MAX_LISTED_STREAMS } from './streams.ts';
import { TONES } from './style.ts';
import { drawSupplements } from './supplements.ts';

/** Renders the run as a PDF. The same view yields the same bytes. */
export function renderPdf(view: RunView, texts: Texts): Promise<Iterable<Uint8Array>> {
  const { runId, organisation, period, finishedAt } = view.run;
  const facts = {
    title: `${texts.title} · ${organisation ?? ''} run ${runId}`,
    subject: period,
    date: new Date(finishedAt),
  };
  const listed = listedStreams(view.streams.all, MAX_LISTED_STREAMS);
  return setDocument(facts, [{ ...view, streams: listed }, texts], async (sheet) => {
    drawCover(sheet, view, texts);
    sheet.newPage();
    drawIpe(sheet, view, texts);
    drawPopulation(sheet, view, texts);
    drawSignature(sheet, texts);
    drawExceptions(sheet, view, texts);
    drawLate(sheet, view, texts);
    drawClaims(sheet, view, texts);
    drawFindings(sheet, view, texts);
    drawSupplements(sheet, view, texts);
    drawCharts(sheet, view);
    drawCoverage(sheet, view, texts);
    drawCustody(sheet, view, texts);
    drawLimits(sheet, view);
    drawHowTo(sheet, texts);
    drawControls(sheet, view, texts);
    await drawStreams(sheet, view, listed, texts);
    drawPreparer(sheet, view, texts);
    if (sheet.hasMarks) drawParagraph(sheet, texts.marks, { size: 7.5, leading: 10.5, color: GREY });
    const { words, tone } = view.outcome;
    return {
      head: [texts.title, organisation, `run ${runId}`].filter((part) => part !== null).join(' · '),
      foot: runId,
      ...(tone === 'calm' ? {} : { alarm: { text: words.join(' · '), color: TONES[tone].strong } }),
    };
  });
}
