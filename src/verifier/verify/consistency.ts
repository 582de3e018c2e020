import { utf8Text } from '../../core/bytes.ts';
import type { Bundle } from '../bundle/bundle.ts';
import {
  bagInfo,
  type ServiceDocument,
  TRANSFER_LOG_DOCUMENT,
  type TransferLog,
  type Verification,
} from '../bundle/documents.ts';
import {
  CONTRACT_FILE,
  EVIDENCE,
  formFile,
  isToken,
  missingForms,
  README,
  SERVICE,
  TRANSFER_LOG,
  tokenFiles,
  VERIFICATION,
} from '../bundle/files.ts';
import type { FileDigest } from '../bundle/integrity.ts';
import { BAG_INFO, expectedBagInfo, slugOf } from '../bundle/layout.ts';
import { readMissing } from '../bundle/missing.ts';
import type { PackageReading } from '../chain/package.ts';
import type { ListingResult } from '../claims/listing.ts';
import { lastFetched, newestEnd } from '../claims/unfetched.ts';
import type { MissingForm } from '../model/failure.ts';
import type { Description } from '../profile/description.ts';
import type { PackageForm } from '../reading/contract.ts';
import { type ObjectFinding, readInBundle, toObjectFinding } from './object-finding.ts';
import { checkPages, checkServiceDocument } from './service.ts';
import { checkTransferLog } from './transfer-log.ts';

/** Result of checking the files of a bundle other than those that prove it. */
export interface FilesBeside {
  findings: ObjectFinding[];
  missing: MissingForm[];
  /** Transfer log; null if it cannot be read. */
  log: TransferLog | null;
}

/** Statements of the bundle about itself, as far as they can be read. */
interface Documents {
  stated: Verification;
  service: ServiceDocument | null;
  /** Result of comparing the package with the bundle's listing. */
  listing: ListingResult | null;
  /** Contract by which the bundle was read; null if the reader supplied another. */
  description: Description | null;
}

/** Evidence that was read from its bytes. */
interface Evidence {
  /** All files, by path. */
  files: ReadonlyMap<string, FileDigest>;
  reading: PackageReading;
  /** Contract by which the package was read. */
  contract: Pick<PackageForm, 'downloads'>;
}

const MAX_TEXT_BYTES = 2 ** 20;

/**
 * Checks that the files meant for people or other programs state the same as the verified ones. Otherwise an auditor
 * and this program would read two different bundles.
 * @param bundle sound by its manifests.
 */
export async function checkConsistency(
  bundle: Bundle,
  key: string,
  documents: Documents,
  { files, reading, contract }: Evidence,
): Promise<FilesBeside> {
  const { stated } = documents;
  const findings = [
    ...absent(files, key),
    ...checkFolder(bundle, key, stated),
    ...checkContract(files, key, stated),
    ...checkTokens(files, key, reading),
  ];
  const missing = await readInBundle(key, () => readMissing(bundle));
  const forms = missing.value ?? [];
  findings.push(...missing.findings, ...checkMissing(forms, key, stated));
  if (files.has(BAG_INFO)) {
    const text = await readInBundle(`${key}:${BAG_INFO}`, () => bundle.readFile(BAG_INFO, MAX_TEXT_BYTES));
    const found = text.value === null ? [] : checkInfo(utf8Text(text.value), key, stated, files);
    findings.push(...text.findings, ...found);
  }
  let log: TransferLog | null = null;
  if (files.has(TRANSFER_LOG)) {
    const bytes = await readInBundle(`${key}:${TRANSFER_LOG}`, () =>
      bundle.readFile(TRANSFER_LOG, TRANSFER_LOG_DOCUMENT.maxBytes),
    );
    const { listing } = documents;
    const read = bytes.value === null ? null : checkTransferLog(bytes.value, key, stated, files, { contract, listing });
    findings.push(...bytes.findings, ...(read?.findings ?? []));
    log = read?.value ?? null;
  }
  findings.push(...checkService(key, documents, files, log));
  return { findings, missing: forms, log };
}

/** Checks that a stream with a missing form is recorded as incomplete or refuted. */
function checkMissing(
  missing: readonly MissingForm[],
  key: string,
  { verdict: { status } }: Verification,
): ObjectFinding[] {
  if (missing.length === 0 || status === 'incomplete' || status === 'refuted') return [];
  const message = `states the status ${status}, but a form is missing`;
  return [toObjectFinding('verdict/differs', `${key}:${VERIFICATION}`, message)];
}

function checkService(
  key: string,
  { stated, service, listing, description }: Documents,
  files: ReadonlyMap<string, FileDigest>,
  log: TransferLog | null,
): ObjectFinding[] {
  const unasked = description === null ? null : whyNotAsked(stated, description);
  const asked = unasked === null ? [] : [toObjectFinding('verdict/differs', `${key}:${VERIFICATION}`, unasked)];
  if (service === null) return asked;
  const place = `${key}:${SERVICE}`;
  return [
    ...asked,
    ...checkServiceDocument(service, stated, [...files.keys()], description, log?.steps ?? null).map((message) =>
      toObjectFinding('bundle/contradiction', place, message),
    ),
    ...checkPages(service, place, listing),
  ];
}

function absent(files: ReadonlyMap<string, FileDigest>, key: string): ObjectFinding[] {
  const paths = [...files.keys()];
  const lacks = [README, BAG_INFO, TRANSFER_LOG, SERVICE].filter((path) => !files.has(path));
  if (formFile('json', paths) === undefined && !missingForms(paths).includes('json')) lacks.push(EVIDENCE);
  return lacks.map((path) => toObjectFinding('bundle/missing-file', `${key}:${path}`, 'belongs in every bundle'));
}

function checkFolder({ folder }: Bundle, key: string, { verdict }: Verification): ObjectFinding[] {
  const expected = slugOf(verdict.stream_id);
  if (folder === expected) return [];
  const message = `is in a folder that is not named after the stream "${verdict.stream_id}"`;
  return [toObjectFinding('bundle/contradiction', key, message, { expected, actual: folder })];
}

/** Checks that the contract file exists exactly if the bundle was read by one, and is that one. */
function checkContract(files: ReadonlyMap<string, FileDigest>, key: string, stated: Verification): ObjectFinding[] {
  const expected = stated.contract_sha256;
  const actual = files.get(CONTRACT_FILE)?.sha256;
  const place = `${key}:${CONTRACT_FILE}`;
  if (expected === null)
    return actual === undefined
      ? []
      : [
          toObjectFinding(
            'bundle/unexpected-file',
            place,
            'exists, although verification.json states the default contract',
          ),
        ];
  if (actual === undefined)
    return [toObjectFinding('object/missing', place, 'is named by verification.json, but missing')];
  if (actual === expected) return [];
  return [toObjectFinding('object/altered', place, 'is not the contract that was pinned', { expected, actual })];
}

/** Checks that the token files, which `openssl` checks, are the tokens in the package, which this program checks. */
function checkTokens(files: ReadonlyMap<string, FileDigest>, key: string, { facts }: PackageReading): ObjectFinding[] {
  const tokens = tokenFiles(facts?.checkpoints ?? []);
  const expected = new Set(tokens.map(({ path }) => path));
  const findings = [...files.keys()]
    .filter((path) => isToken(path) && !expected.has(path))
    .map((path) =>
      toObjectFinding('bundle/unexpected-file', `${key}:${path}`, 'is a token that the package does not hold'),
    );
  for (const { path, sha256 } of tokens) {
    const actual = files.get(path)?.sha256;
    if (actual === undefined)
      findings.push(toObjectFinding('bundle/missing-file', `${key}:${path}`, 'is a token that only the package holds'));
    else if (actual !== sha256)
      findings.push(
        toObjectFinding('bundle/contradiction', `${key}:${path}`, 'is another token than the one in the package', {
          expected: sha256,
          actual,
        }),
      );
  }
  return findings;
}

/** Checks `bag-info.txt`: all of it but the day follows from the other files. */
function checkInfo(
  text: string,
  key: string,
  stated: Verification,
  files: ReadonlyMap<string, FileDigest>,
): ObjectFinding[] {
  const status = missingForms([...files.keys()]).length > 0 ? 'PARTIAL' : 'COMPLETE';
  const expected = expectedBagInfo(text, bagInfo(stated, status), files);
  if (text === expected) return [];
  const [lines, wanted] = [text.split('\n'), expected.split('\n')];
  const at = wanted.findIndex((line, index) => line !== lines[index]);
  const message = 'contradicts the other files of the bundle';
  return [
    toObjectFinding('bundle/contradiction', `${key}:${BAG_INFO}`, message, {
      expected: lines[at] || 'nothing',
      actual: wanted[at] || 'the end',
    }),
  ];
}

/**
 * Returns why `unfetched` is not the question that an export would have asked; null if it is. An export asks for
 * entries if
 *
 * - the package was compared with a listing, and the contract can ask for the entries after a number;
 * - an earlier run had the stream;
 * - the list of streams states entries beyond those of all exports;
 * - some export has a period that ends.
 */
export function whyNotAsked(stated: Verification, { entries, entry }: Description): string | null {
  const { unfetched, earlier, statement, completeness, package_period, verdict } = stated;
  const { first_sequence: first, head } = verdict;
  const own = first === null || head === null ? null : { first, last: head.sequence };
  const after = lastFetched(own, earlier) ?? entry.first_sequence - 1;
  const to = statement.head.sequence;
  if (unfetched !== null) {
    const isRight = unfetched.after === after && unfetched.to === to;
    return isRight ? null : `states that entries after ${unfetched.after} were requested, but exports end at ${after}`;
  }
  const canAsk = completeness.kind === 'listing' && entries?.after_parameter != null && earlier.length > 0;
  const isBeyond = to !== null && to > after && statement.entries !== 0;
  const hasEnd = newestEnd([package_period, ...earlier.map(({ period }) => period)]) !== null;
  if (!canAsk || !isBeyond || !hasEnd) return null;
  return `states entries up to ${to}, of which no export has those after ${after}, but not that they were requested`;
}
