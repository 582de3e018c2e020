import type { Worker } from 'node:worker_threads';
import { EvidenceError } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import { KeptThreads } from '../../core/kept-threads.ts';
import { Slots } from '../../core/parallel.ts';
import { type PdfFacts, readPdfFacts, type SeeText } from './pdf.ts';
import type { ReaderAnswer, ReaderQuestion } from './reader-thread.ts';

/** Twenty pages take a tenth of a second. The PDF library does all of a page without a pause, so no timer ends it. */
const WITHIN_MS = 10_000;
/** The heap for objects; those that live only while a page is read are in the young part. */
const HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 12 };
/** The most bytes of buffers, which are outside of it. */
const MAX_BUFFERS_BYTES = 2 ** 29;
const LOOK_EVERY_MS = 250;

const THREADS = new KeptThreads(programUrl('verifier/pdf-text/reader-thread'), HEAP);

const TURNS = new Slots(1);

interface PdfOptions {
  withinMs?: number;
  /** Is given the text of each page once all were read. */
  seeText?: SeeText;
}

/** Ends the thread that is kept for the next PDF. */
export function endReading(): Promise<void> {
  return THREADS.end();
}

/**
 * Reads what a PDF states in a thread of its own, one PDF after the other. One that takes too much time or memory loses
 * its thread and nothing else.
 * @param bytes the whole document; the caller caps its size. They are copied.
 * @throws EvidenceError `unreadable` as `readPdfFacts`, or when it takes too much.
 */
export function readPdf(bytes: Uint8Array, options: PdfOptions = {}): Promise<PdfFacts> {
  return TURNS.run(() => readNow(bytes, options));
}

async function readNow(bytes: Uint8Array, { withinMs = WITHIN_MS, seeText }: PdfOptions): Promise<PdfFacts> {
  const thread = THREADS.take();
  // Without threads, the limits are those of the PDF's own size alone.
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
