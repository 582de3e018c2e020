import { isEvidenceError } from '../../core/errors.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import type { Bundle } from '../bundle/bundle.ts';
import type { BundleFinding } from '../bundle/bundle-finding.ts';
import type { TransferLog, Verification } from '../bundle/documents.ts';
import { type FormName, formFile, isPart, LISTING, VERIFICATION } from '../bundle/files.ts';
import { knownOf, serviceStatementOf } from '../bundle/known.ts';
import type { ComparedSection, WalkResult } from '../chain/walk.ts';
import { statesActions } from '../claims/actions.ts';
import { factsOf } from '../claims/agreement.ts';
import { type ClaimName, requiredOf } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import { type Deps, type FormSource, observe, type Readers, readSummary } from '../claims/observe.ts';
import type { ServiceStatement } from '../claims/schemas.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import type { SealKeys } from '../model/entry.ts';
import type { MissingForm } from '../model/failure.ts';
import type { Contract } from '../reading/contract.ts';
import { type ContractUse, DEFAULT_IN_USE, type PinnedContract, toContractUse, toRead } from '../reading/in-use.ts';
import { checkConsistency, type FilesBeside } from './consistency.ts';
import { contradictions, openClaims } from './contradictions.ts';
import { readDocuments, type StatedDocuments } from './documents.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { type BundleReading, type EntryWatch, expectationOf, readThrough } from './reading.ts';
import { cutOf } from './service.ts';

// Over ten members: every option of a reader.
export interface VerifyOptions {
  /** Contract to read everything by; null for the contract in a bundle or, without one, the default contract. */
  contract: PinnedContract | null;
  /** True to read entries with the reference decoder alone; false by default. */
  referenceAlone?: boolean;
  sealKeys: SealKeys;
  /** Roles and members of entries that the reader accepts as not covered by digests; empty by default. */
  acceptUnhashed?: readonly string[];
  /** Trusted roots of time-stamping authorities; null if none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
  /** Claims that must be proved, besides those that a bundle or a run requires; `DEFAULT_REQUIRED` by default. */
  required?: readonly ClaimName[];
  /** Claims that need not be proved although a bundle or a run requires them. */
  without?: readonly ClaimName[];
  /** True if no run records the bundle: a bundle of another version is then refused, not refuted. */
  alone?: boolean;
  /** True if a record states another bundle than the one that is read. */
  isAltered?: boolean;
  /** Sections of the bundle's stream that other runs had, to be watched in this bundle too. */
  compared?: readonly ComparedSection[];
  /** Returns the watch that receives a bundle's entries as they are read; null for none. */
  watch?: (stated: Verification) => EntryWatch | null;
}

export interface VerifiedBundle {
  findings: ObjectFinding[];
  identity: string | null;
  /** Null if the bundle holds nothing to judge. */
  judged: JudgedBundle | null;
}

/** Bundle that states its stream and its run. */
export interface JudgedBundle {
  /** Our own verdict, made now from the bundle's bytes, including its reports of other parties' statements. */
  verdict: Verdict;
  /** Claims that must be proved, by the reader's choice and the bundle's own. */
  required: readonly ClaimName[];
  contract: ContractUse;
  /** Walk over the entries; null if the package could not be read. */
  walk: WalkResult | null;
  /** Other streams in its package. */
  others: readonly string[];
  /** Statements of the bundle about itself. */
  stated: Verification;
  /** Null if it cannot be read. */
  transferLog: TransferLog | null;
  /** Statements of the service apart from the package. */
  service: ServiceStatement;
  /** Forms that the bundle lacks. */
  missing: MissingForm[];
  /** True if the bundle holds a PDF, which can refute if PDFs are read. */
  hasPdf: boolean;
}

/**
 * Verifies one bundle from its bytes alone: first the bag, then every claim, then that the bundle states the verdict
 * that we derive.
 * @param opening the bundle; an `unreadable` one is a finding.
 * @param key name of the bundle in findings.
 */
export async function verifyContent(
  opening: Promise<Bundle>,
  key: string,
  options: VerifyOptions,
  readers: Readers,
): Promise<VerifiedBundle> {
  let bundle: Bundle;
  try {
    bundle = await opening;
  } catch (error) {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    const finding = toObjectFinding('object/unreadable', key, error.message);
    return { findings: [finding], identity: null, judged: null };
  }
  const { identity } = bundle;
  const { value: documents, findings } = await readDocuments(bundle, key, options);
  const { stated, own } = documents;
  const inUse = toRead(options.contract ?? own ?? DEFAULT_IN_USE, options.referenceAlone);
  const evidence = await readEvidence(bundle, documents, inUse.contract, options);
  const { broken, unreadable } = evidence;
  findings.push(...broken.map((finding) => inBundle(finding, key)));
  if (stated === null) return { findings, identity, judged: null };
  if (unreadable !== null) findings.push(toObjectFinding('object/unreadable', `${key}:${LISTING}`, unreadable.message));
  const beside = await readFilesBeside(bundle, key, { ...documents, stated }, evidence, inUse.contract);
  findings.push(...beside.findings);
  const isAltered = options.isAltered === true || findings.length > 0;
  const judged = await judge(bundle, { stated, evidence, beside, inUse, isAltered }, options, readers);
  // A broken bag has no verdict to compare: every claim would repeat the same finding.
  if (broken.length === 0) {
    const withoutPdf = readers.readPdf === null && judged.hasPdf;
    const open = openClaims(stated, judged.verdict, { contract: inUse.contract, options, isAltered, withoutPdf });
    // Another contract than the bundle's leads to other findings.
    const ownContract = options.contract === null ? inUse.contract : null;
    findings.push(...contradictions(`${key}:${VERIFICATION}`, stated, judged, open, ownContract));
  }
  return { findings, identity, judged };
}

/** Reads every byte, and the package by the contract. Reads the summary first, which decides about counting actions. */
async function readEvidence(
  bundle: Bundle,
  { stated, service }: StatedDocuments,
  contract: Contract,
  { sealKeys, compared = [], watch }: VerifyOptions,
): Promise<BundleReading> {
  const path = formOf(bundle, 'json');
  const isWhole = path !== undefined && !isPart(path);
  const summary = contract.countedAction === null ? null : await readSummary(wholeForm(bundle, 'summary'), contract);
  return readThrough(bundle, {
    contract,
    sealKeys,
    expected: { ...expectationOf(stated, compared), actions: statesActions(factsOf(summary)) },
    ...(isWhole ? { whole: path, part: undefined } : { whole: undefined, part: path }),
    cut: stated === null ? null : cutOf(stated, service),
    watch: (stated !== null && isWhole && watch?.(stated)) || null,
  });
}

/** Checks the other files of the bundle. */
async function readFilesBeside(
  bundle: Bundle,
  key: string,
  { stated, service, own }: StatedDocuments & { stated: Verification },
  { broken, files, reading, listing }: BundleReading,
  contract: Contract,
): Promise<FilesBeside> {
  // A broken bag is not checked further: every file would repeat the same finding.
  if (broken.length > 0) return { findings: [], missing: [], log: null };
  const documents = { stated, service, listing, description: own?.description ?? null };
  return checkConsistency(bundle, key, documents, { files, reading, contract });
}

/** Contents found in a bundle. */
interface Found {
  stated: Verification;
  evidence: BundleReading;
  beside: FilesBeside;
  inUse: PinnedContract;
  /** See `Forms`. */
  isAltered: boolean;
}

async function judge(
  bundle: Bundle,
  { stated, evidence: { reading, listing }, beside, inUse, isAltered }: Found,
  options: VerifyOptions,
  readers: Readers,
): Promise<JudgedBundle> {
  const { missing, log } = beside;
  // A bundle that was incomplete when packed stays incomplete, whatever is proved here.
  const isShort = missing.length > 0 || stated.verdict.status === 'incomplete';
  const pdf = wholeForm(bundle, 'pdf');
  const required = requiredOf(options, stated.required_claims);
  const known = knownOf(stated, listing);
  const forms = { summary: wholeForm(bundle, 'summary'), pdf, isShort, isAltered };
  const observations = await observe(reading, forms, known, meansOf(inUse, options, until(readers, stated)));
  return {
    verdict: toVerdict(reading, examine(observations, required)),
    required,
    contract: toContractUse(inUse, options.contract === null ? 'bundle' : 'reader'),
    walk: reading.defect === null ? reading.walk : null,
    others: reading.others,
    stated,
    transferLog: log,
    service: serviceStatementOf(known, stated.statement),
    missing,
    hasPdf: pdf !== null,
  };
}

function formOf(bundle: Bundle, form: FormName): string | undefined {
  const paths = bundle.entries.map(({ path }) => path);
  return formFile(form, paths);
}

/** Returns null for a form that is absent or present only in part. */
function wholeForm(bundle: Bundle, name: 'summary' | 'pdf'): FormSource | null {
  const path = formOf(bundle, name);
  const entry = bundle.entries.find((one) => one.path === path);
  if (entry === undefined || isPart(entry.path)) return null;
  return { bytes: entry.bytes, read: (maxBytes) => bundle.readFile(entry.path, maxBytes) };
}

/** Returns the dependencies by which the reader judges. */
function meansOf(
  { contract, file }: PinnedContract,
  { contract: given, acceptUnhashed = [], sealKeys, roots, now }: VerifyOptions,
  readers: Readers,
): Deps {
  const contractFile = toContractFile(file, given === null ? 'bundle' : 'reader');
  return { contract, contractFile, acceptUnhashed, sealKeys, roots, now, ...readers };
}

/** Bounds the time of tokens by the export's clock: a token with a time after the export's verification was forged. */
function until(readers: Readers, { verified_at }: Verification): Readers {
  const { verifyToken } = readers;
  const notAfter = new Date(verified_at);
  if (verifyToken === null || Number.isNaN(notAfter.getTime())) return readers;
  return { ...readers, verifyToken: (der, question) => verifyToken(der, { ...question, notAfter }) };
}

function inBundle({ code, path, message, expected, actual }: BundleFinding, key: string): ObjectFinding {
  return toObjectFinding(code, path === '' ? key : `${key}:${path}`, message, { expected, actual });
}
