import { isEvidenceError } from '../../core/errors.ts';
import type { PdfFacts } from '../pdf-text/pdf.ts';
import type { Contract } from '../reading/contract.ts';
import type { PdfReading, SummaryReading } from './agreement.ts';

/** A form that arrived whole, wherever it lies now. */
export interface FormSource {
  bytes: number;
  /** @throws EvidenceError for what cannot be read. */
  read(maxBytes: number): Promise<Uint8Array>;
}

/** Reads what a PDF states. @throws EvidenceError `unreadable`. */
export type ReadPdf = (bytes: Uint8Array) => Promise<PdfFacts>;

/** A form is held in memory to be read. */
const MAX_SUMMARY_BYTES = 16 * 2 ** 20;
const MAX_PDF_BYTES = 64 * 2 ** 20;

/** @param source null for a summary that is not there. */
export function readSummary(source: FormSource | null, contract: Contract): Promise<SummaryReading | null> {
  return read(source, MAX_SUMMARY_BYTES, async (bytes) => contract.readSummary(bytes));
}

/** @param source null for a PDF that is not there. @param readPdf null where PDFs are not read: nothing is found then. */
export async function readPdfForm(source: FormSource | null, readPdf: ReadPdf | null): Promise<PdfReading | null> {
  if (source !== null && readPdf === null) return { statements: [], unread: [] };
  return readPdf === null ? null : read(source, MAX_PDF_BYTES, readPdf);
}

async function read<T>(
  source: FormSource | null,
  maxBytes: number,
  factsOf: (bytes: Uint8Array) => Promise<T>,
): Promise<T | { unreadable: string } | null> {
  if (source === null) return null;
  if (source.bytes > maxBytes) return { unreadable: `it has more than ${maxBytes} bytes` };
  try {
    return await factsOf(await source.read(maxBytes));
  } catch (error) {
    if (isEvidenceError(error)) return { unreadable: error.message };
    throw error;
  }
}
