import { isEvidenceError } from '../../core/errors.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import type { VerifyToken } from '../../core/timestamp/verify.ts';
import type { PackageReading } from '../chain/package.ts';
import type { SealKeys } from '../model/entry.ts';
import type { PdfFacts } from '../pdf-text/pdf.ts';
import type { Contract } from '../reading/contract.ts';
import type { PdfReading, SummaryReading } from './agreement.ts';
import type { VendorVerdict } from './agreement-vendor.ts';
import type { CompletenessBasis } from './completeness.ts';
import type { ContractFile } from './content.ts';
import type { Restart, SecretsFound, Span, Unfetched } from './schemas.ts';
import type { RecordedStatement } from './statement.ts';

/**
 * Knowledge of a stream apart from its package. An export gets it from the service and the ledger and writes it into
 * the bundle; a verification reads it from there.
 */
export interface Known {
  vendor: VendorVerdict | null;
  /** Spans of all earlier runs, oldest first; null if not known. */
  earlier: readonly Span[] | null;
  /** Reasons why bundles of earlier runs could not be compared, by run id. */
  unread?: ReadonlyMap<string, string>;
  /** Period for which the package was requested. */
  period: Span['period'];
  /** Statement of the service's list of streams about the stream. */
  statement: RecordedStatement;
  /** Answer of the service about entries after the last exported one; null if it was not asked. */
  unfetched: Unfetched | null;
  /** Number of entries that the service stated when the package was ready; null if it stated none. */
  statedCount: number | null;
  secrets: SecretsFound;
  /** Accepted restarts of the stream, oldest first. */
  restarts: readonly Restart[];
  completeness: CompletenessBasis;
}

/** Readers of PDFs and checkers of tokens; null if not available. */
export interface Readers {
  readPdf: ReadPdf | null;
  verifyToken: VerifyToken | null;
}

/** Contract, keys and roots by which a stream is judged. */
export interface Deps extends Readers {
  contract: Contract;
  /** Null for the default contract. */
  contractFile: ContractFile | null;
  /** Roles and members that the reader accepts as unhashed. */
  acceptUnhashed: readonly string[];
  sealKeys: SealKeys;
  /** Trusted roots of time-stamping authorities; null if none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
}

/** Forms other than the JSON form, if they arrived whole. */
export interface Forms {
  summary: FormSource | null;
  pdf: FormSource | null;
  /** True if a form is missing: the stream was not collected, however sound the other forms are. */
  isShort: boolean;
  /** True if the forms are not those that were packed, or not all of them: the service is not blamed for them. */
  isAltered: boolean;
}

/** Forms after reading. */
export interface ReadForms extends Pick<Forms, 'isShort' | 'isAltered'> {
  summary: SummaryReading | null;
  pdf: PdfReading | null;
}

/** Contract, keys and roots by which claims are judged. */
export interface Measures extends Omit<Deps, 'contract' | 'sealKeys' | 'readPdf'> {
  /** Parts of the contract about digests and seals. */
  contract: Pick<
    Contract,
    'name' | 'recipe' | 'firstSequence' | 'hasSeals' | 'bindsPredecessor' | 'unhashedSeal' | 'openRoles'
  >;
  sealKeysGiven: boolean;
}

/** Everything observed about one stream. The claims follow from it alone. */
export interface Observations {
  reading: PackageReading;
  known: Known;
  forms: ReadForms;
  measures: Measures;
}

/**
 * Reads the forms and returns the input of all judges. An export and a verification both call it, so both judge alike.
 */
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

/** Form that arrived whole, wherever it is stored. */
export interface FormSource {
  bytes: number;
  /** @throws EvidenceError if the form cannot be read. */
  read(maxBytes: number): Promise<Uint8Array>;
}

/** Reads the statements of a PDF. @throws EvidenceError `unreadable`. */
export type ReadPdf = (bytes: Uint8Array) => Promise<PdfFacts>;

/** Maximum sizes of forms, which are held in memory to be read. */
const MAX_SUMMARY_BYTES = 16 * 2 ** 20;
const MAX_PDF_BYTES = 64 * 2 ** 20;

/** @param source null if there is no summary. */
export function readSummary(source: FormSource | null, contract: Contract): Promise<SummaryReading | null> {
  return read(source, MAX_SUMMARY_BYTES, async (bytes) => contract.readSummary(bytes));
}

/** @param source null if there is no PDF. @param readPdf null if PDFs are not read: nothing is found then. */
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
