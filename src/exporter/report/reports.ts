import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { browserProgram, packageFile } from '../../core/install-paths.ts';
import { lazy } from '../../core/lazy.ts';
import type { RunRecord } from '../../verifier/records/record.ts';
import { renderIndex } from './csv.ts';
import { type PageParts, renderHtml } from './html/document.ts';
import { renderOscal } from './oscal/document.ts';
import { renderPdf } from './pdf/document.ts';
import { readTexts } from './texts.ts';
import { makeRunView } from './view/view.ts';

/** Document of a run, with its name in the run's folder. */
export interface Report {
  name: string;
  /** Content, readable once. It can reach megabytes for thousands of streams, so it is never in memory as a whole. */
  pieces: Iterable<string | Uint8Array>;
}

/**
 * Yields the reports of a frozen run. The pieces of each must be consumed before the next report is requested. The same
 * record yields the same bytes.
 * @param record its `documents` are ignored, because they list these reports.
 */
export async function* renderReports(record: RunRecord): AsyncGenerator<Report> {
  const texts = readTexts();
  const view = await inTurns(makeRunView(record, 'run', texts));
  yield { name: 'report.pdf', pieces: await renderPdf(view, texts) };
  yield { name: 'index.csv', pieces: renderIndex(record) };
  if (record.report.oscal) yield { name: 'assessment-results.json', pieces: renderOscal(record, texts) };
  // Rendered last, because it contains a program that differs between versions of this tool: a run resumed by another
  // version would produce another file.
  yield { name: 'report.html', pieces: renderHtml(view, texts, await readParts()) };
}

/** Renders the report of an attempt that ended incomplete. */
export async function renderAttemptReport(record: RunRecord): Promise<Report> {
  const texts = readTexts();
  return { name: 'report.pdf', pieces: await renderPdf(await inTurns(makeRunView(record, 'attempt', texts)), texts) };
}

/** Runs a generator to its end and yields to the event loop between steps, so that signals are handled. */
async function inTurns<T>(making: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = making.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Reads the parts once, because a run from the sources builds the programs for it. */
export const readParts = lazy(read);

async function read(): Promise<PageParts> {
  const [charts, style, page, verifier] = await Promise.all([
    readFile(packageFile('templates/charts.css'), 'utf8'),
    readFile(packageFile('templates/report/report.css'), 'utf8'),
    browserProgram('page'),
    browserProgram('verifier'),
  ]);
  return { style: charts + style, page, verifier };
}
