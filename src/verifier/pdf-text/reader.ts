import type { Worker } from 'node:worker_threads';
import { EvidenceError } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import { KeptThreads } from '../../core/kept-threads.ts';
import { Slots } from '../../core/parallel.ts';
import { type PdfFacts, readPdfFacts, type SeeText } from './pdf.ts';
import type { ReaderAnswer, ReaderQuestion } from './reader-thread.ts';

/**
 * Time limit: twenty pages take a tenth of a second. The PDF library reads a page without a pause, so no timer in its
 * thread can end it.
 */
const WITHIN_MS = 10_000;
/** Heap limits; objects that live only while a page is read are in the young generation. */
const HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 12 };
/** Maximum size of buffers, which are outside the heap. */
const MAX_BUFFERS_BYTES = 2 ** 29;
const LOOK_EVERY_MS = 250;

const THREADS = new KeptThreads(programUrl('verifier/pdf-text/reader-thread'), HEAP);

const TURNS = new Slots(1);

interface PdfOptions {
  withinMs?: number;
  /** Called with the text of each page after all were read. */
  seeText?: SeeText;
}

/** Ends the thread that is kept for the next PDF. */
export function endReading(): Promise<void> {
  return THREADS.end();
}

/**
 * Reads the statements of a PDF in a separate thread, one PDF at a time. A PDF that takes too much time or memory ends
 * its thread and nothing else.
 * @param bytes whole document, which is copied; the caller limits its size.
 * @throws EvidenceError `unreadable` like `readPdfFacts`, or if the PDF takes too much.
 */
export function readPdf(bytes: Uint8Array, options: PdfOptions = {}): Promise<PdfFacts> {
  return TURNS.run(() => readNow(bytes, options));
}

async function readNow(bytes: Uint8Array, { withinMs = WITHIN_MS, seeText }: PdfOptions): Promise<PdfFacts> {
  const thread = THREADS.take();
  // Without threads, only the size of the PDF is limited.
  if (thread === null) return readPdfFacts(bytes, seeText);
  let isSound = false;
  try {
    const answer = await ask(thread, { bytes, withText: seeText !== undefined }, withinMs);
    isSound = true;
    if ('facts' in answer) {
      for (const text of answer.texts) seeText?.(text);
      return answer.facts;
    }
    throw 'unreadable' in answer ? new EvidenceError('unreadable', answer.unreadable) : answer.defect;
  } finally {
    if (isSound) THREADS.keep(thread);
    else await thread.terminate();
  }
}

async function ask(thread: Worker, question: ReaderQuestion, withinMs: number): Promise<ReaderAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ReaderAnswer>();
  const fail = (reason: string) => reject(new EvidenceError('unreadable', reason));
  const tooLate = setTimeout(() => fail('it takes too long'), withinMs);
  const look = setInterval(async () => {
    const statistics = await thread.getHeapStatistics().catch(() => null);
    if (statistics !== null && statistics.external_memory > MAX_BUFFERS_BYTES) fail('it takes too much memory');
  }, LOOK_EVERY_MS);
  const onError = () => fail('it takes too much memory, or ends its reader');
  const onExit = () => fail('it ended its reader');
  thread.on('message', resolve).on('error', onError).on('exit', onExit);
  thread.postMessage(question);
  try {
    return await promise;
  } finally {
    clearTimeout(tooLate);
    clearInterval(look);
    thread.off('message', resolve).off('exit', onExit).off('error', onError);
  }
}
