import type { Bundle } from '../bundle/bundle.ts';
import { CONTRACT_FILE, custodySchema, type Verification, verificationSchema } from '../bundle/documents.ts';
import { asPart, PackageReader } from '../chain/package.ts';
import type { PdfReading } from '../claims/agreement.ts';
import type { ClaimName, Examination } from '../claims/claim.ts';
import { examine } from '../claims/examine.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import type { Contract, SealKeys, SummaryFacts } from '../contract/contract.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../contract/in-use.ts';
import type { PdfFacts } from '../contract/pdf/statements.ts';
import { pinContract } from '../contract/pinned.ts';
import { sha256 } from '../encoding/digest.ts';
import { isEvidenceError } from '../errors.ts';
import { readRecord } from '../ledger/record.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { type Problem, toProblem } from './problem.ts';

export interface VerifyOptions {
  /** To read everything by; null for the contract that a bundle brings, else the default one. */
  contract: ContractInUse | null;
  sealKeys: SealKeys;
  /** The roots of the time-stamping authorities that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
}

export interface VerifiedBundle {
  problems: Problem[];
  identity: string | null;
  /** Ours, made now from the bytes in the bundle; null when it holds nothing to judge. */
  verdict: Verdict | null;
  /** The one that the bundle states. */
  recorded: Verdict | null;
  earlierHead: { sequence: number; digest: string; runId: string } | null;
  runId: string | null;
  period: { from: string | null; to: string | null } | null;
  /** Of the contract file that the bundle states; null for the default contract. */
  contractSha256: string | null;
  /** Where its chain of custody says that it comes from; null where it cannot be read. */
  auditOrigin: string | null;
}

const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;
const MAX_CONTRACT_BYTES = 2 ** 20;
const MAX_SUMMARY_BYTES = 16 * 2 ** 20;
const MAX_PDF_BYTES = 64 * 2 ** 20;
const EVIDENCE = 'data/evidence.json';
const PDF = 'data/evidence.pdf';
const VERIFICATION = 'data/verification.json';
const CUSTODY = 'data/custody.json';

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
  const { contract } = options.contract ?? (await readContract(bundle, key, stated, problems));
  const reader = new PackageReader(contract, options.sealKeys, {
    ...(expected === undefined ? {} : { streamId: expected.stream_id }),
    ...(expected?.package_id == null ? {} : { packageId: expected.package_id }),
    watch: () => (stated === null ? [] : watchedBy(stated)),
  });
  // The chain is walked over the very bytes whose digest is being checked.
  const broken = await bundle.checkIntegrity({
    onChunk: (path, chunk) => {
      if (path === EVIDENCE || path === `${EVIDENCE}.part`) reader.push(chunk);
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
  const absent = bundle.entries.every(({ path }) => path !== EVIDENCE);
  const reading = absent ? asPart(whole, 'it was not delivered whole') : whole;
  const examination = examine(
    {
      reading,
      summary: await readSummary(bundle, contract),
      pdf: await readPdfOf(bundle, readPdf),
      vendor: stated.vendor,
      earlier: stated.earlier_head,
      reachesNow: stated.reaches_now,
      fromStart: stated.package_period.from === null,
      statedHead: stated.stated_head,
      restart: stated.accepted_restart,
      completeness: stated.completeness,
      roots: options.roots,
      now: options.now,
      sealKeysGiven: options.sealKeys.size > 0,
      contract,
    },
    stated.required_claims as ClaimName[],
  );
  const verdict = toVerdict(reading, asCollected(examination, stated.verdict.status));
  // Of a bag that is not what it was, no verdict can be: that would be the same news again, claim by claim.
  const leftOpen = readPdf === null ? [...NEED_TRUST, ...NEED_THE_PDF] : NEED_TRUST;
  if (broken.length === 0) problems.push(...contradictions(key, stated.verdict, verdict, leftOpen));
  return {
    problems,
    identity: bundle.identity,
    verdict,
    recorded: stated.verdict,
    earlierHead: stated.earlier_head,
    runId: stated.run_id,
    period: stated.period,
    contractSha256: stated.contract_sha256,
    auditOrigin: await readOrigin(bundle, key),
  };
}

/** The contract that the bundle states it was read by. */
async function readContract(
  bundle: Bundle,
  key: string,
  stated: Verification | null,
  problems: Problem[],
): Promise<ContractInUse> {
  const expected = stated?.contract_sha256 ?? null;
  if (expected === null) return DEFAULT_IN_USE;
  const place = `${key}:${CONTRACT_FILE}`;
  try {
    const bytes = await bundle.readFile(CONTRACT_FILE, MAX_CONTRACT_BYTES);
    const actual = sha256(bytes);
    if (actual !== expected)
      problems.push(toProblem('object/altered', place, 'is not the contract that was pinned', { expected, actual }));
    return pinContract(bytes, place);
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    problems.push(toProblem(error.code === 'not-found' ? 'object/missing' : 'object/unreadable', place, error.message));
    return DEFAULT_IN_USE;
  }
}

/** The entries whose digests the claims ask for. */
function watchedBy({ earlier_head, completeness }: Verification): number[] {
  const stated = completeness.kind === 'record' ? completeness.statement.headSequence : null;
  return [earlier_head?.sequence, stated].filter((sequence) => typeof sequence === 'number');
}

/** A stream of which a form is missing stays incomplete, however sound the rest is. */
function asCollected(examination: Examination, recorded: Verdict['status']): Examination {
  const incomplete = recorded === 'incomplete' && examination.status !== 'refuted';
  return incomplete ? { ...examination, status: 'incomplete' } : examination;
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

async function readOrigin(bundle: Bundle, key: string): Promise<string | null> {
  try {
    const bytes = await bundle.readFile(CUSTODY, MAX_DOCUMENT_BYTES);
    return readRecord(custodySchema, bytes, `${key}:${CUSTODY}`).audit_origin;
  } catch (error) {
    if (isEvidenceError(error)) return null;
    throw error;
  }
}

async function readSummary(bundle: Bundle, contract: Contract): Promise<SummaryFacts | null> {
  const summary = bundle.entries.find(({ path }) => /^data\/summary\.[a-z]+$/.test(path));
  if (summary === undefined) return null;
  try {
    return contract.readSummary(await bundle.readFile(summary.path, MAX_SUMMARY_BYTES));
  } catch (error) {
    if (isEvidenceError(error)) return null;
    throw error;
  }
}

async function readPdfOf(bundle: Bundle, readPdf: ReadPdf | null): Promise<PdfReading | null> {
  if (bundle.entries.every(({ path }) => path !== PDF)) return null;
  if (readPdf === null) return { unreadable: 'PDFs are not read here' };
  try {
    return await readPdf(await bundle.readFile(PDF, MAX_PDF_BYTES));
  } catch (error) {
    if (isEvidenceError(error)) return { unreadable: error.message };
    throw error;
  }
}

/** Claims that need keys or roots, which may not be at hand here. */
const NEED_TRUST: readonly string[] = ['seal', 'anchor'];
const NEED_THE_PDF: readonly string[] = ['agreement'];

/**
 * Where the bundle states what we find not to be so. A claim that we leave unproved, e.g. because no seal key is at
 * hand here, contradicts nothing.
 */
function contradictions(key: string, recorded: Verdict, ours: Verdict, leftOpen: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  const differ = (what: string, expected: string, actual: string) =>
    problems.push(
      toProblem('verdict/differs', `${key}:${VERIFICATION}`, `states ${what} ${actual}, and it is ${expected}`, {
        expected,
        actual,
      }),
    );
  for (const field of ['entries', 'first_sequence', 'last_sequence', 'head_hash', 'package_id'] as const)
    if (recorded[field] !== ours[field]) differ(field, String(ours[field]), String(recorded[field]));
  for (const field of ['activity', 'actions'] as const) {
    const [expected, actual] = [JSON.stringify(ours[field]), JSON.stringify(recorded[field])];
    if (expected !== actual) differ(field, expected, actual);
  }
  for (const [name, claim] of Object.entries(ours.claims)) {
    const stated = recorded.claims[name as ClaimName].state;
    const opposite = claim.state !== stated && claim.state !== 'unproved' && stated !== 'unproved';
    // A refuted claim that nothing refutes any more is as much of a contradiction.
    if (opposite || (stated === 'proved' && claim.state === 'unproved' && !leftOpen.includes(name)))
      differ(`the claim ${name} as`, claim.state, stated);
  }
  return problems;
}

function nothingIn(problems: Problem[]): VerifiedBundle {
  return {
    problems,
    identity: null,
    verdict: null,
    recorded: null,
    earlierHead: null,
    runId: null,
    period: null,
    contractSha256: null,
    auditOrigin: null,
  };
}
