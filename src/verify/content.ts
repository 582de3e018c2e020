import type { Bundle } from '../bundle/bundle.ts';
import { CONTRACT_FILE, type Verification, verificationSchema } from '../bundle/documents.ts';
import { type FormName, formFile, isPart, VERIFICATION } from '../bundle/files.ts';
import type { FileDigest } from '../bundle/integrity.ts';
import type { MissingForm } from '../bundle/missing.ts';
import { type Collected, type ServiceStatement, serviceStatementIn } from '../bundle/stated.ts';
import { asPart, PackageReader } from '../chain/package.ts';
import type { Compared, WalkResult } from '../chain/walk.ts';
import type { PdfReading, SummaryReading } from '../claims/agreement.ts';
import { type ClaimName, DEFAULT_REQUIRED, type Examination, strictest } from '../claims/claim.ts';
import { entriesBeside } from '../claims/completeness.ts';
import { toContractFile } from '../claims/content.ts';
import { comparedWith } from '../claims/continuity.ts';
import { examine } from '../claims/examine.ts';
import type { Span } from '../claims/span-schema.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import type { Contract, SealKeys } from '../contract/contract.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../contract/in-use.ts';
import type { PdfFacts } from '../contract/pdf.ts';
import { pinContract } from '../contract/pinned.ts';
import { isEvidenceError } from '../errors.ts';
import { readRecord } from '../ledger/record.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { checkConsistency } from './consistency.ts';
import { type ContractUse, toContractUse } from './contract-use.ts';
import { contradictions } from './contradictions.ts';
import { type Problem, toProblem } from './problem.ts';

export interface VerifyOptions {
  /** To read everything by; null for the contract that a bundle brings, else the default one. */
  contract: Pick<ContractInUse, 'contract' | 'file'> | null;
  sealKeys: SealKeys;
  /** Roles and members of entries that the reader accepts to be left out of digests; none unless told. */
  acceptUnhashed?: readonly string[];
  /** The roots of the time-stamping authorities that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
  /** What must be proved, whatever a bundle or a run requires besides; `DEFAULT_REQUIRED` unless told. */
  required?: readonly ClaimName[];
  /** What other runs had of the stream of a bundle, to be seen in it too. */
  compared?: readonly Compared[];
}

export interface VerifiedBundle {
  problems: Problem[];
  identity: string | null;
  /** Ours, made now from the bytes in the bundle; null when it holds nothing to judge. */
  verdict: Verdict | null;
  /** The one that the bundle states. */
  recorded: Verdict | null;
  /** What the bundle says that earlier runs had of the stream. */
  earlier: readonly Span[];
  packagePeriod: Span['period'] | null;
  /** What was read; null when it holds nothing to judge. */
  walk: WalkResult | null;
  runId: string | null;
  period: { from: string | null; to: string | null } | null;
  /** Of the contract file that the bundle states; null for the default contract. */
  contractSha256: string | null;
  /** Null when nothing was read. */
  contract: ContractUse | null;
  /** Where the forms came from, by the transfer log; null where that cannot be read. */
  auditOrigin: string | null;
  /** When they came, by the transfer log, and what the service stated; null where nothing says so. */
  collected: Collected | null;
  service: ServiceStatement | null;
  /** The forms that it lacks. */
  missing: MissingForm[];
}

const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;
const MAX_CONTRACT_BYTES = 2 ** 20;
const MAX_SUMMARY_BYTES = 16 * 2 ** 20;
const MAX_PDF_BYTES = 64 * 2 ** 20;

/** Reads what a PDF states. @throws EvidenceError `unreadable`. */
export type ReadPdf = (bytes: Uint8Array) => Promise<PdfFacts>;

/**
 * Verifies one bundle from its bytes alone: the bag, then the claims anew, then that the bundle does not state another
 * verdict than ours.
 * @param opening the bundle; one that is `unreadable` is a problem.
 * @param key how the bundle is called in problems.
 * @param readPdf null where PDFs cannot be read.
 */
export async function verifyContent(
  opening: Promise<Bundle>,
  key: string,
  options: VerifyOptions,
  readPdf: ReadPdf | null,
): Promise<VerifiedBundle> {
  let bundle: Bundle;
  try {
    bundle = await opening;
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return nothingIn([toProblem('object/unreadable', key, error.message)]);
  }
  return verifyOpened(bundle, key, options, readPdf);
}

async function verifyOpened(
  bundle: Bundle,
  key: string,
  options: VerifyOptions,
  readPdf: ReadPdf | null,
): Promise<VerifiedBundle> {
  const problems: Problem[] = [];
  const stated = await readStated(bundle, key, problems);
  const expected = stated?.verdict;
  const inUse = options.contract ?? (await readContract(bundle, key, stated, problems));
  const { contract } = inUse;
  const reader = new PackageReader(contract, options.sealKeys, {
    ...(expected === undefined ? {} : { streamId: expected.stream_id }),
    ...(expected?.package_id == null ? {} : { packageId: expected.package_id }),
    watch: () => (stated === null ? [] : watchedBy(stated)),
    compared: () => [...comparedWith(stated?.earlier ?? []), ...(options.compared ?? [])],
  });
  const evidence = formOf(bundle, 'json');
  const files = new Map<string, FileDigest>();
  // The chain is walked over the very bytes whose digest is being checked.
  const broken = await bundle.checkIntegrity({
    onChunk: (path, chunk) => {
      if (path === evidence) reader.push(chunk);
    },
    onEnd: (path, file) => {
      files.set(path, file);
    },
  });
  problems.push(
    ...broken.map(
      ({ code, path, message, expected: wanted, actual }): Problem => ({
        code,
        key: path === '' ? key : `${key}:${path}`,
        message,
        ...(wanted === undefined ? {} : { expected: wanted }),
        ...(actual === undefined ? {} : { actual }),
      }),
    ),
  );
  if (stated === null) return { ...nothingIn(problems), identity: bundle.identity };
  const whole = reader.finish();
  const isWhole = evidence !== undefined && !isPart(evidence);
  const reading = isWhole ? whole : asPart(whole, 'it was not delivered whole');
  // Of a bag that is not what it was, nothing more can be said: that would be the same news again, file by file.
  const surroundings =
    broken.length > 0
      ? { problems: [], missing: [], auditOrigin: null, collected: null }
      : await checkConsistency(bundle, key, stated, files, reading);
  problems.push(...surroundings.problems);
  const examination = examine(
    {
      reading,
      summary: await readSummary(bundle, contract),
      pdf: await readPdfOf(bundle, readPdf),
      vendor: stated.vendor,
      earlier: stated.earlier,
      period: stated.package_period,
      statedHead: stated.stated_head,
      restart: stated.accepted_restart,
      completeness: stated.completeness,
      roots: options.roots,
      now: options.now,
      sealKeysGiven: options.sealKeys.size > 0,
      contract,
      contractFile: toContractFile(inUse.file, options.contract === null ? 'bundle' : 'reader'),
      acceptUnhashed: options.acceptUnhashed ?? [],
    },
    strictest(options.required ?? DEFAULT_REQUIRED, stated.required_claims),
  );
  const incomplete = surroundings.missing.length > 0 || stated.verdict.status === 'incomplete';
  const verdict = toVerdict(reading, incomplete ? asCollected(examination) : examination);
  // Of a bag that is not what it was, no verdict can be: that would be the same news again, claim by claim.
  if (broken.length === 0) {
    const leftOpen = [...NEED_TRUST, ...(readPdf === null ? NEED_THE_PDF : [])];
    // Without the keys that digests are made with, they do not tell what they told who had the keys.
    if (stated.verdict.digests_bind && !verdict.digests_bind) leftOpen.push('continuity');
    if (wasTrustedMore(stated, options)) leftOpen.push('content');
    // By another contract than the bundle's, other things are found.
    const ownContract = options.contract === null ? contract : null;
    problems.push(...contradictions(`${key}:${VERIFICATION}`, stated, verdict, leftOpen, ownContract));
  }
  return {
    problems,
    identity: bundle.identity,
    verdict,
    recorded: stated.verdict,
    earlier: stated.earlier,
    packagePeriod: stated.package_period,
    walk: reading.defect === null ? reading.walk : null,
    runId: stated.run_id,
    period: stated.period,
    contractSha256: stated.contract_sha256,
    contract: toContractUse(inUse, options.contract === null ? 'bundle' : 'reader'),
    auditOrigin: surroundings.auditOrigin,
    collected: surroundings.collected,
    service: serviceStatementIn(stated),
    missing: surroundings.missing,
  };
}

function formOf(bundle: Bundle, form: FormName): string | undefined {
  return formFile(
    form,
    bundle.entries.map(({ path }) => path),
  );
}

/** The contract that the bundle states it was read by; that it is the stated one is checked with all files. */
async function readContract(
  bundle: Bundle,
  key: string,
  stated: Verification | null,
  problems: Problem[],
): Promise<ContractInUse> {
  const isThere = bundle.entries.some(({ path }) => path === CONTRACT_FILE);
  if (stated === null || stated.contract_sha256 === null || !isThere) return DEFAULT_IN_USE;
  const place = `${key}:${CONTRACT_FILE}`;
  try {
    return pinContract(await bundle.readFile(CONTRACT_FILE, MAX_CONTRACT_BYTES), place);
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    problems.push(toProblem('object/unreadable', place, error.message));
    return DEFAULT_IN_USE;
  }
}

/** The entries whose digests the claims ask for. */
function watchedBy({ completeness }: Verification): number[] {
  return entriesBeside(completeness.kind === 'none' ? null : completeness.statement.headSequence);
}

/** A stream of which a form is missing stays incomplete, however sound the rest is. */
function asCollected(examination: Examination): Examination {
  return examination.status === 'refuted' ? examination : { ...examination, status: 'incomplete' };
}

async function readStated(bundle: Bundle, key: string, problems: Problem[]) {
  const place = `${key}:${VERIFICATION}`;
  try {
    return readRecord(verificationSchema, await bundle.readFile(VERIFICATION, MAX_DOCUMENT_BYTES), place);
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    problems.push(toProblem(error.code === 'not-found' ? 'object/missing' : 'object/unreadable', place, error.message));
    return null;
  }
}

async function readSummary(bundle: Bundle, contract: Contract): Promise<SummaryReading | null> {
  const summary = formOf(bundle, 'summary');
  if (summary === undefined || isPart(summary)) return null;
  try {
    return contract.readSummary(await bundle.readFile(summary, MAX_SUMMARY_BYTES));
  } catch (error) {
    if (isEvidenceError(error)) return { unreadable: error.message };
    throw error;
  }
}

async function readPdfOf(bundle: Bundle, readPdf: ReadPdf | null): Promise<PdfReading | null> {
  const pdf = formOf(bundle, 'pdf');
  if (pdf === undefined || isPart(pdf)) return null;
  if (readPdf === null) return { unreadable: 'PDFs are not read here' };
  try {
    return await readPdf(await bundle.readFile(pdf, MAX_PDF_BYTES));
  } catch (error) {
    if (isEvidenceError(error)) return { unreadable: error.message };
    throw error;
  }
}

/** Claims that need keys or roots, which may not be at hand here. */
const NEED_TRUST: readonly string[] = ['seal', 'anchor'];
const NEED_THE_PDF: readonly string[] = ['agreement'];

/** Whether who exported had keys, or accepted what digests leave out, and the reader has not. */
function wasTrustedMore({ seal_key_ids, accepted_unhashed }: Verification, options: VerifyOptions): boolean {
  const { sealKeys, acceptUnhashed = [] } = options;
  return (
    seal_key_ids.some((id) => !sealKeys.has(id)) || accepted_unhashed.some((name) => !acceptUnhashed.includes(name))
  );
}

function nothingIn(problems: Problem[]): VerifiedBundle {
  return {
    problems,
    identity: null,
    verdict: null,
    recorded: null,
    earlier: [],
    packagePeriod: null,
    walk: null,
    runId: null,
    period: null,
    contractSha256: null,
    contract: null,
    auditOrigin: null,
    collected: null,
    service: null,
    missing: [],
  };
}
