import { parentPort } from 'node:worker_threads';
import { isEvidenceError } from '../../core/errors.ts';
import { type PdfFacts, readPdfFacts } from './pdf.ts';

/** An error of ours loses its class between threads, so it travels as what it says; any other is a defect. */
export type ReaderAnswer = { facts: PdfFacts } | { unreadable: string } | { defect: unknown };

parentPort?.on('message', async (bytes: Uint8Array) => parentPort?.postMessage(await answer(bytes)));

async function answer(bytes: Uint8Array): Promise<ReaderAnswer> {
  try {
    return { facts: await readPdfFacts(bytes) };
  } catch (error) {
    return isEvidenceError(error, 'unreadable') ? { unreadable: error.message } : { defect: error };
  }
}
