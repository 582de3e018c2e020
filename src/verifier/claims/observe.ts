import { isEvidenceError } from '../../core/errors.ts';
import type { PackageReading } from '../chain/package.ts';
import type { SealKeys } from '../model/entry.ts';
import type { PdfFacts } from '../pdf-text/pdf.ts';
import type { Contract } from '../reading/contract.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import type { VerifyToken } from '../timestamp/verify.ts';
import type { PdfReading, SummaryReading } from './agreement.ts';
import type { VendorVerdict } from './agreement-vendor.ts';
import type { CompletenessBasis } from './completeness.ts';
import type { ContractFile } from './content.ts';
import type { Restart, SecretsFound, Span, Unfetched } from './schemas.ts';
import type { RecordedStatement } from './statement.ts';

/**
 * Knowledge of a stream besides its package. An export has it from the service and the ledger, and writes it into the
 * bundle; a verification reads it there.
 */
export interface Known {
  vendor: VendorVerdict | null;
  /** Spans of all earlier runs, the oldest first; null where they are not known. */
  earlier: readonly Span[] | null;
  /** Reasons that bundles of earlier runs could not be compared, by run id. */
  unread?: ReadonlyMap<string, string>;
  /** The period that the package was asked for. */
  period: Span['period'];
  /** The stream as the service's list of streams states it. */
  statement: RecordedStatement;
  /** Entries that it listed after the last one that any export has; null where it was not asked. */
  unfetched: Unfetched | null;
  /** The number of entries that the service stated when the package was ready; null where it stated none. */
  statedCount: number | null;
  secrets: SecretsFound;
  /** Restarts of the stream that were accepted, the oldest first. */
  restarts: readonly Restart[];
  completeness: CompletenessBasis;
}

/** Readers of PDFs and checkers of tokens; each is null where that cannot be done. */
export interface Readers {
  readPdf: ReadPdf | null;
  verifyToken: VerifyToken | null;
}

/** By what a stream is judged: whom and what the one who judges trusts. */
export interface Deps extends Readers {
  contract: Contract;
  /** Null for the default contract. */
  contractFile: ContractFile | null;
  /** Roles and members that the reader accepts to be unhashed. */
  acceptUnhashed: readonly string[];
  sealKeys: SealKeys;
  /** The time-stamping authorities' roots that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
}

/** The forms beside the JSON form, where they arrived whole. */
export interface Forms {
  summary: FormSource | null;
  pdf: FormSource | null;
  /** A form is missing: the stream was not collected, however sound the others are. */
  isShort: boolean;
  /** They are not what was packed, or not all of it: nothing in them is to be laid to the service. */
  isAltered: boolean;
}

/** The same, read. */
export interface ReadForms extends Pick<Forms, 'isShort' | 'isAltered'> {
  summary: SummaryReading | null;
  pdf: PdfReading | null;
}

/** By what claims are judged. */
export interface Measures extends Omit<Deps, 'contract' | 'sealKeys' | 'readPdf'> {
  /** The parts of the contract about digests and seals. */
  contract: Pick<
    Contract,
    'name' | 'recipe' | 'firstSequence' | 'hasSeals' | 'bindsPredecessor' | 'unhashedSeal' | 'openRoles'
  >;
  sealKeysGiven: boolean;
}

/** Everything that was observed about one stream; the claims follow from it alone. */
export interface Observations {
  reading: PackageReading;
  known: Known;
  forms: ReadForms;
  measures: Measures;
}

/** Returns what an export and a verification judge. Both call this, so that both judge alike. */
export async function observe(
  reading: PackageReading,
  { summary, pdf, ...state }: Forms,
  known: Known,
  { readPdf, sealKeys, ...deps }: Deps,
): Promise<Observations> {
  return {
    reading,
    known,
    forms: {
      ...state,
      summary: await readSummary(summary, deps.contract),
      pdf: await readPdfForm(pdf, readPdf),
    },
    measures: { ...deps, sealKeysGiven: sealKeys.size > 0 },
  };
}

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
