import { isEvidenceError } from '../../core/errors.ts';
import type { Bundle } from '../bundle/bundle.ts';
import type { BundleFinding } from '../bundle/bundle-finding.ts';
import type { TransferLog, Verification } from '../bundle/documents.ts';
import { type FormName, formFile, isPart, LISTING, VERIFICATION } from '../bundle/files.ts';
import { knownOf } from '../bundle/known.ts';
import type { MissingForm } from '../bundle/missing.ts';
import { serviceStatementOf } from '../bundle/stated.ts';
import type { ComparedSection, WalkResult } from '../chain/walk.ts';
import { type ClaimName, DEFAULT_REQUIRED, strictest } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import type { FormSource } from '../claims/forms.ts';
import { type Means, observe, type Readers } from '../claims/observe.ts';
import type { Restart, Span } from '../claims/span-schema.ts';
import type { ServiceStatement } from '../claims/stated-schema.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import type { SealKeys } from '../model/entry.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../reading/in-use.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { checkConsistency } from './consistency.ts';
import { type ContractUse, toContractUse } from './contract-use.ts';
import { contradictions } from './contradictions.ts';
import { readDocuments } from './documents.ts';
import { expectationOf } from './expectation.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { openClaims } from './open-claims.ts';
import { type EntryWatch, readThrough } from './reading.ts';
import { cutOf } from './service.ts';

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
  /** Whether no run speaks of the bundle: one that another version wrote is refused then, and not refuted. */
  alone?: boolean;
  /** Whether a record states another bundle than the one that is to be read. */
  isAltered?: boolean;
  /** What other runs had of the stream of a bundle, to be seen in it too. */
  compared?: readonly ComparedSection[];
  /** Who else is to see the entries of a bundle as they are read; null where nobody is. */
  watch?: (stated: Verification) => EntryWatch | null;
}

export interface VerifiedBundle {
  findings: ObjectFinding[];
  identity: string | null;
  /**
   * Ours, made now from the bytes in the bundle, those among them in which it says what others said; null when it holds
   * nothing to judge.
   */
  verdict: Verdict | null;
  /** The one that the bundle states. */
  recorded: Verdict | null;
  /** What must be proved: by the reader, and by what the bundle says itself. */
  required: readonly ClaimName[];
  /** What the bundle says that earlier runs had of the stream. */
  earlier: readonly Span[];
  restarts: readonly Restart[];
  packagePeriod: Span['period'] | null;
  /** What was read; null when it holds nothing to judge. */
  walk: WalkResult | null;
  runId: string | null;
  period: { from: string | null; to: string | null } | null;
  /** Of the contract file that the bundle states; null for the default contract. */
  contractSha256: string | null;
  /** Null when nothing was read. */
  contract: ContractUse | null;
  /** Null where it cannot be read. */
  transferLog: TransferLog | null;
  /** What the service stated besides the package; null when it holds nothing to judge. */
  service: ServiceStatement | null;
  /** The head's sequence number as the service's list of streams stated it. */
  statedHead: number | null;
  /** The forms that it lacks. */
  missing: MissingForm[];
  /** Whether it holds a PDF that could be read where PDFs are. */
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
    return nothingIn([toObjectFinding('object/unreadable', key, error.message)]);
  }
  return verifyOpened(bundle, key, options, readers);
}

async function verifyOpened(
  bundle: Bundle,
  key: string,
  options: VerifyOptions,
  readers: Readers,
): Promise<VerifiedBundle> {
  const findings: ObjectFinding[] = [];
  const { stated, service, own } = await readDocuments(bundle, key, options, findings);
  const inUse = options.contract ?? own ?? DEFAULT_IN_USE;
  const { contract } = inUse;
  const evidence = formOf(bundle, 'json');
  const isWhole = evidence !== undefined && !isPart(evidence);
  const { reading, files, broken, listing, unreadable } = await readThrough(bundle, {
    contract,
    sealKeys: options.sealKeys,
    expected: expectationOf(stated, options.compared ?? []),
    whole: isWhole ? evidence : undefined,
    part: isWhole ? undefined : evidence,
    cut: stated === null ? null : cutOf(stated, service),
    watch: (stated !== null && isWhole && options.watch?.(stated)) || null,
  });
  findings.push(...broken.map((finding) => inBundle(finding, key)));
  if (stated === null) return { ...nothingIn(findings), identity: bundle.identity };
  if (unreadable !== null) findings.push(toObjectFinding('object/unreadable', `${key}:${LISTING}`, unreadable.message));
  // Of a bag that is not what it was, nothing more can be said: that would be the same news again, file by file.
  const documents = { stated, service, listing, description: own?.description ?? null };
  const surroundings =
    broken.length > 0
      ? { findings: [], missing: [], log: null }
      : await checkConsistency(bundle, key, documents, files, reading, contract);
  findings.push(...surroundings.findings);
  // What was incomplete when it was packed stays so, whatever is proved of it here.
  const isShort = surroundings.missing.length > 0 || stated.verdict.status === 'incomplete';
  const isAltered = options.isAltered === true || findings.length > 0;
  const [summary, pdf] = [wholeForm(bundle, 'summary'), wholeForm(bundle, 'pdf')];
  const required = strictest(options.required ?? DEFAULT_REQUIRED, stated.required_claims);
  const known = knownOf(stated, listing);
  const observations = await observe(
    reading,
    { summary, pdf, isShort, isAltered },
    known,
    meansOf(inUse, options, readers),
  );
  const verdict = toVerdict(reading, examine(observations, required));
  // Of a bag that is not what it was, no verdict can be: that would be the same news again, claim by claim.
  if (broken.length === 0) {
    const open = openClaims(stated, verdict, {
      contract,
      options,
      withoutForms: readers.readPdf === null || isAltered,
    });
    // By another contract than the bundle's, other things are found.
    const ownContract = options.contract === null ? contract : null;
    findings.push(...contradictions(`${key}:${VERIFICATION}`, stated, verdict, open, ownContract));
  }
  return {
    findings,
    identity: bundle.identity,
    verdict,
    recorded: stated.verdict,
    required,
    earlier: stated.earlier,
    restarts: stated.accepted_restarts,
    packagePeriod: stated.package_period,
    walk: reading.defect === null ? reading.walk : null,
    runId: stated.run_id,
    period: stated.period,
    contractSha256: stated.contract_sha256,
    contract: toContractUse(inUse, options.contract === null ? 'bundle' : 'reader'),
    transferLog: surroundings.log,
    service: serviceStatementOf(known, stated.statement),
    statedHead: stated.statement.head.sequence,
    missing: surroundings.missing,
    hasPdf: pdf !== null,
  };
}

function formOf(bundle: Bundle, form: FormName): string | undefined {
  return formFile(
    form,
    bundle.entries.map(({ path }) => path),
  );
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
): Means {
  const contractFile = toContractFile(file, given === null ? 'bundle' : 'reader');
  return { contract, contractFile, acceptUnhashed, sealKeys, roots, now, ...readers };
}

function inBundle({ code, path, message, expected, actual }: BundleFinding, key: string): ObjectFinding {
  const values = { ...(expected === undefined ? {} : { expected }), ...(actual === undefined ? {} : { actual }) };
  return toObjectFinding(code, path === '' ? key : `${key}:${path}`, message, values);
}

function nothingIn(findings: ObjectFinding[]): VerifiedBundle {
  return {
    findings,
    identity: null,
    verdict: null,
    recorded: null,
    required: [],
    earlier: [],
    restarts: [],
    packagePeriod: null,
    walk: null,
    runId: null,
    period: null,
    contractSha256: null,
    contract: null,
    transferLog: null,
    service: null,
    statedHead: null,
    missing: [],
    hasPdf: false,
  };
}
