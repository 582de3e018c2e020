import { parentPort } from 'node:worker_threads';
import { isEvidenceError } from '../../core/errors.ts';
import { type PdfFacts, readPdfFacts } from './pdf.ts';

/**
 * Answer of the thread. An error loses its class between threads, so `unreadable` errors travel as text; others are
 * defects.
 */
export type ReaderAnswer = { facts: PdfFacts; texts: string[] } | { unreadable: string } | { defect: unknown };

export interface ReaderQuestion {
  bytes: Uint8Array;
  /** True if the answer must include the text of the pages. */
  withText: boolean;
}

/** Maximum length of the text in an answer, in UTF-16 code units. */
const MAX_TEXT = 2 ** 24;

parentPort?.on('message', async (question: ReaderQuestion) => parentPort?.postMessage(await answer(question)));

async function answer({ bytes, withText }: ReaderQuestion): Promise<ReaderAnswer> {
  const texts: string[] = [];
  let room = withText ? MAX_TEXT : 0;
  try {
    const facts = await readPdfFacts(bytes, (text) => {
      if (text.length <= room) texts.push(text);
      room -= text.length;
    });
    return { facts, texts };
  } catch (error) {
    return isEvidenceError(error, 'unreadable') ? { unreadable: error.message } : { defect: error };
  }
}
