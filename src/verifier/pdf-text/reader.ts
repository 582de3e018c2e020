import { EvidenceError } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import { Slots } from '../../core/parallel.ts';
import { Threads } from '../../core/threads/threads.ts';
import { answerPdf, type PdfFacts, type SeeText } from './pdf.ts';

/**
 * Time limit: twenty pages take a tenth of a second. The PDF library reads a page without a pause, so no timer in its
 * thread can end it.
 */
const WITHIN_MS = 10_000;
/** Maximum size of buffers, which are outside the heap. */
const MAX_BUFFERS_BYTES = 2 ** 29;

const THREADS = new Threads(programUrl('verifier/pdf-text/reader-thread'), {
  // Objects that live only while a page is read are in the young generation.
  resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 12 },
  // Without threads, only the size of the PDF is limited.
  here: answerPdf,
  toFailure: (reason) => new EvidenceError('unreadable', reason),
});

const TURNS = new Slots(1);

interface PdfOptions {
  withinMs?: number;
  /** Called with the text of each page after all were read. */
  seeText?: SeeText;
}

/** Ends the thread that is kept for the next PDF. */
export function endReading(): Promise<void> {
  return THREADS.endIdle();
}

/**
 * Reads the statements of a PDF in a separate thread, one PDF at a time. A PDF that takes too much time or memory ends
 * its thread and nothing else.
 * @param bytes whole document, which is copied; the caller limits its size.
 * @throws EvidenceError `unreadable` like `readPdfFacts`, or if the PDF takes too much.
 */
export async function readPdf(
  bytes: Uint8Array,
  { withinMs = WITHIN_MS, seeText }: PdfOptions = {},
): Promise<PdfFacts> {
  const request = { bytes, withText: seeText !== undefined };
  const limits = { ms: withinMs, buffersBytes: MAX_BUFFERS_BYTES };
  const { facts, texts } = await TURNS.run(() => THREADS.ask(request, { limits }));
  for (const text of texts) seeText?.(text);
  return facts;
}
