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

/** A document of a run, by its name in the run's folder. */
export interface Report {
  name: string;
  /** The content. For thousands of streams it has megabytes, which are never in memory at once. Can be taken once. */
  pieces: Iterable<string | Uint8Array>;
}

/**
 * The reports of a frozen run, one after the other; the pieces of one are to be taken before the next is asked for. The
 * same record gives the same bytes.
 * @param record its documents are not looked at: they are these.
 */
export async function* renderReports(record: RunRecord): AsyncGenerator<Report> {
  const texts = readTexts();
  const view = await inTurns(makeRunView(record, 'run', texts));
  yield { name: 'report.pdf', pieces: await renderPdf(view, texts) };
  yield { name: 'index.csv', pieces: renderIndex(record) };
  if (record.report.oscal) yield { name: 'assessment-results.json', pieces: renderOscal(record, texts) };
  // Last, because it holds a program: another version of this one that went on from here would write another.
  yield { name: 'report.html', pieces: renderHtml(view, texts, await readParts()) };
}

/** The report of a try that ended incomplete. */
export async function renderAttemptReport(record: RunRecord): Promise<Report> {
  const texts = readTexts();
  return { name: 'report.pdf', pieces: await renderPdf(await inTurns(makeRunView(record, 'attempt', texts)), texts) };
}

/** Ends what is made in steps, between which a signal to stop is heard. */
async function inTurns<T>(making: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = making.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** Read once, because from the sources the programs are built for it. */
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
