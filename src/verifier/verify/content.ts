import { isEvidenceError } from '../../core/errors.ts';
import type { Bundle } from '../bundle/bundle.ts';
import type { BundleFinding } from '../bundle/bundle-finding.ts';
import type { TransferLog, Verification } from '../bundle/documents.ts';
import { type FormName, formFile, isPart, LISTING, VERIFICATION } from '../bundle/files.ts';
import { knownOf, serviceStatementOf } from '../bundle/known.ts';
import type { MissingForm } from '../bundle/missing.ts';
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
import type { Contract } from '../reading/contract.ts';
import {
  type ContractInUse,
  type ContractUse,
  DEFAULT_IN_USE,
  toContractUse,
  withoutProgram,
} from '../reading/in-use.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { checkConsistency, type FilesBeside } from './consistency.ts';
import { contradictions, openClaims } from './contradictions.ts';
import { readDocuments, type StatedDocuments } from './documents.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { type BundleReading, type EntryWatch, expectationOf, readThrough } from './reading.ts';
import { cutOf } from './service.ts';

// Over ten members: it is all that a reader may say.
export interface VerifyOptions {
  /** To read everything by; null for the contract that a bundle brings, else the default one. */
  contract: Pick<ContractInUse, 'contract' | 'file'> | null;
  /** True if the reference decoder alone reads entries; the fast one does too unless told. */
  referenceAlone?: boolean;
  sealKeys: SealKeys;
  /** Roles and members of entries that the reader accepts to be left out of digests; none unless told. */
  acceptUnhashed?: readonly string[];
  /** The roots of the time-stamping authorities that are trusted; null when none were pinned. */
  roots: readonly Certificate[] | null;
  now: Date;
  /** Claims that must be proved, whatever a bundle or a run requires besides; `DEFAULT_REQUIRED` unless told. */
  required?: readonly ClaimName[];
  /** Claims that need not be proved although a bundle or a run requires them. */
  without?: readonly ClaimName[];
  /** True if no run speaks of the bundle: one that another version wrote is refused then, and not refuted. */
  alone?: boolean;
  /** True if a record states another bundle than the one that is to be read. */
  isAltered?: boolean;
  /** Sections that other runs had of the stream of a bundle, to be seen in it too. */
  compared?: readonly ComparedSection[];
  /** Returns the watch that is to see the entries of a bundle as they are read; null for none. */
  watch?: (stated: Verification) => EntryWatch | null;
}

export interface VerifiedBundle {
  findings: ObjectFinding[];
  identity: string | null;
  /** Null when it holds nothing to judge. */
  judged: JudgedBundle | null;
}

/** A bundle that says of what stream and run it is. */
export interface JudgedBundle {
  /** Ours, made now from the bytes in the bundle, those among them in which it says what others said. */
  verdict: Verdict;
  /** The claims that must be proved: by the reader, and by the bundle itself. */
  required: readonly ClaimName[];
  contract: ContractUse;
  /** The walk over the entries; null when the package could not be read. */
  walk: WalkResult | null;
  /** Other streams that its package holds. */
  others: readonly string[];
  /** The bundle's statements about itself. */
  stated: Verification;
  /** Null where it cannot be read. */
  transferLog: TransferLog | null;
  /** The service's statements besides the package. */
  service: ServiceStatement;
  /** The forms that it lacks. */
  missing: MissingForm[];
  /** True if it holds a PDF, which may refute where PDFs are read. */
  hasPdf: boolean;
}

/**
 * Verifies one bundle from its bytes alone: the bag, then the claims anew, then that the bundle does not state another
 * verdict than ours.
 * @param opening the bundle; one that is `unreadable` is a finding.
 * @param key how the bundle is called in findings.
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
  return verifyOpened(bundle, key, options, readers);
}

async function verifyOpened(
  bundle: Bundle,
  key: string,
  options: VerifyOptions,
  readers: Readers,
): Promise<VerifiedBundle> {
  const { identity } = bundle;
  const { value: documents, findings } = await readDocuments(bundle, key, options);
  const { stated, own } = documents;
  const chosen = options.contract ?? own ?? DEFAULT_IN_USE;
  const inUse = options.referenceAlone === true ? withoutProgram(chosen) : chosen;
  const evidence = await readEvidence(bundle, documents, inUse.contract, options);
  const { broken, unreadable } = evidence;
  findings.push(...broken.map((finding) => inBundle(finding, key)));
  if (stated === null) return { findings, identity, judged: null };
  if (unreadable !== null) findings.push(toObjectFinding('object/unreadable', `${key}:${LISTING}`, unreadable.message));
  const beside = await readFilesBeside(bundle, key, { ...documents, stated }, evidence, inUse.contract);
  findings.push(...beside.findings);
  const isAltered = options.isAltered === true || findings.length > 0;
  const judged = await judge(bundle, { stated, evidence, beside, inUse, isAltered }, options, readers);
  // A bag that is not what it was has no verdict: that would be the same news again, claim by claim.
  if (broken.length === 0) {
    const withoutPdf = readers.readPdf === null && judged.hasPdf;
    const open = openClaims(stated, judged.verdict, { contract: inUse.contract, options, isAltered, withoutPdf });
    // By another contract than the bundle's, other things are found.
    const ownContract = options.contract === null ? inUse.contract : null;
    findings.push(...contradictions(`${key}:${VERIFICATION}`, stated, judged, open, ownContract));
  }
  return { findings, identity, judged };
}

/** Reads every byte, the package by the contract; the summary before it, which says what is counted. */
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

/** Reads what the other files say. */
async function readFilesBeside(
  bundle: Bundle,
  key: string,
  { stated, service, own }: StatedDocuments & { stated: Verification },
  { broken, files, reading, listing }: BundleReading,
  contract: Contract,
): Promise<FilesBeside> {
  // Nothing more can be said of a bag that is not what it was: that would be the same news again, file by file.
  if (broken.length > 0) return { findings: [], missing: [], log: null };
  const documents = { stated, service, listing, description: own?.description ?? null };
  return checkConsistency(bundle, key, documents, { files, reading, contract });
}

/** The contents that a bundle was found to hold. */
interface Found {
  stated: Verification;
  evidence: BundleReading;
  beside: FilesBeside;
  inUse: Pick<ContractInUse, 'contract' | 'file'>;
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
  // A bundle that was incomplete when it was packed stays so, whatever is proved of it here.
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

/** Null for one that is not there, or only in part. */
function wholeForm(bundle: Bundle, name: 'summary' | 'pdf'): FormSource | null {
  const path = formOf(bundle, name);
  const entry = bundle.entries.find((one) => one.path === path);
  if (entry === undefined || isPart(entry.path)) return null;
  return { bytes: entry.bytes, read: (maxBytes) => bundle.readFile(entry.path, maxBytes) };
}

/** By what the reader judges. */
function meansOf(
  { contract, file }: Pick<ContractInUse, 'contract' | 'file'>,
  { contract: given, acceptUnhashed = [], sealKeys, roots, now }: VerifyOptions,
  readers: Readers,
): Deps {
  const contractFile = toContractFile(file, given === null ? 'bundle' : 'reader');
  return { contract, contractFile, acceptUnhashed, sealKeys, roots, now, ...readers };
}

/** A token that states a time after the export verified it was made up: the export's own clock bounds it. */
function until(readers: Readers, { verified_at }: Verification): Readers {
  const { verifyToken } = readers;
  const notAfter = new Date(verified_at);
  if (verifyToken === null || Number.isNaN(notAfter.getTime())) return readers;
  return { ...readers, verifyToken: (der, question) => verifyToken(der, { ...question, notAfter }) };
}

function inBundle({ code, path, message, expected, actual }: BundleFinding, key: string): ObjectFinding {
  return toObjectFinding(code, path === '' ? key : `${key}:${path}`, message, { expected, actual });
}
