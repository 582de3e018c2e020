import type { PackageReading } from '../chain/package.ts';
import type { SealKeys } from '../model/entry.ts';
import type { Contract } from '../reading/contract.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import type { VerifyToken } from '../timestamp/verify.ts';
import type { PdfReading, SummaryReading } from './agreement.ts';
import type { VendorVerdict } from './agreement-vendor.ts';
import type { CompletenessBasis } from './completeness.ts';
import type { ContractFile } from './content.ts';
import { type FormSource, type ReadPdf, readPdfForm, readSummary } from './forms.ts';
import type { Restart, Span } from './span-schema.ts';
import type { SecretsFound } from './stated-schema.ts';
import type { RecordedStatement } from './statement.ts';
import type { Unfetched } from './unfetched-schema.ts';

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
