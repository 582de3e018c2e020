import { EvidenceError } from '../../core/errors.ts';
import { PackageReader, type PackageReading } from '../chain/package.ts';
import { DEFAULT_REQUIRED } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import { type Known, observe, type Readers } from '../claims/observe.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import { type ContractUse, DEFAULT_IN_USE, type PinnedContract, toContractUse, toRead } from '../reading/in-use.ts';
import type { VerifyOptions } from './content.ts';

/** Verdicts on the streams of a package, and the contract by which it was read. */
export interface VerifiedPackage {
  verdicts: Verdict[];
  contract: ContractUse;
}

/**
 * Verifies the JSON form of a package by itself, stream by stream. Nothing but the package's own statements is
 * available.
 * @param blocks bytes of the package, cut anywhere.
 */
export async function verifyPackageContent(
  blocks: AsyncIterable<Uint8Array>,
  options: VerifyOptions,
  verifyToken: Readers['verifyToken'],
): Promise<VerifiedPackage> {
  using reader = beginPackage(options);
  for await (const block of blocks) reader.push(block);
  return judgePackage(reader, options, verifyToken);
}

export function beginPackage(options: VerifyOptions): PackageReader {
  return new PackageReader(contractInUse(options).contract, options.sealKeys);
}

function contractInUse({ contract, referenceAlone }: VerifyOptions): PinnedContract {
  return toRead(contract ?? DEFAULT_IN_USE, referenceAlone);
}

/** @param reader has read the package to its end. */
export async function judgePackage(
  reader: PackageReader,
  options: VerifyOptions,
  verifyToken: Readers['verifyToken'],
): Promise<VerifiedPackage> {
  const inUse = contractInUse(options);
  const judged = reader.finishEach().map((reading) => judge(reading, inUse, options, verifyToken));
  return { verdicts: await Promise.all(judged), contract: toContractUse(inUse, 'reader') };
}

/** Knowledge apart from the package: neither earlier exports nor other statements of the service. */
const KNOWN: Known = {
  vendor: null,
  earlier: null,
  period: { from: null, to: null },
  statement: { entryCount: null, headSequence: null, headDigest: null, readAt: '' },
  unfetched: null,
  statedCount: null,
  secrets: { found_in: [], accepted: false },
  restarts: [],
  completeness: { kind: 'none', code: 'no-listing', reason: 'a package by itself shows nothing to compare it with' },
};

const NO_FORMS = { summary: null, pdf: null, isShort: false, isAltered: false };

async function judge(
  reading: PackageReading,
  { contract, file }: PinnedContract,
  { required = DEFAULT_REQUIRED, acceptUnhashed = [], ...options }: VerifyOptions,
  verifyToken: Readers['verifyToken'],
): Promise<Verdict> {
  const contractFile = toContractFile(file, 'reader');
  const deps = { ...options, contract, contractFile, acceptUnhashed, readPdf: null, verifyToken };
  const observations = await observe(reading, NO_FORMS, KNOWN, deps);
  return toVerdict(reading, examine(observations, required));
}

/** Number of leading bytes that decide whether a file may be a package. */
export const BEGINNING_BYTES = 4096;

/**
 * Reports whether the bytes begin a JSON object or list. Also true if they are all white space, because more must be
 * read.
 */
export function isPackageBeginning(bytes: Uint8Array): boolean {
  const text = new TextDecoder('latin1').decode(bytes);
  return /^(\xef\xbb\xbf)?\s*[{[]/.test(text) || (bytes.length >= BEGINNING_BYTES && text.trim() === '');
}

/** Returns the error for a file that is no package and is not judged as one. @param why words that follow a colon. */
export function noPackage(why: string): EvidenceError {
  return new EvidenceError('unreadable', `it is no evidence package: ${why}`);
}
