import { isEvidenceError } from '../../core/errors.ts';
import { TRANSFER_LOG_DOCUMENT, type TransferLog, type Verification } from '../bundle/documents.ts';
import { FORMS, type FormName, formFile, isPart, TRANSFER_LOG } from '../bundle/files.ts';
import type { FileDigest } from '../bundle/integrity.ts';
import type { ListingResult } from '../claims/listing.ts';
import { fillText } from '../profile/answers.ts';
import type { PackageForm } from '../reading/contract.ts';
import { readRecord } from '../records/record-bytes.ts';
import { type Checked, toObjectFinding } from './object-finding.ts';

/**
 * Compares the transfer log with the files of the bundle: its run and stream, and for every received form, the bytes
 * that the bundle has.
 * @param key name of the bundle in findings. @param files all readable files, by path. @param contract of the service.
 * @param listing comparison with the bundle's listing; null without one.
 * @returns the log for other comparisons; null if it cannot be read.
 */
export function checkTransferLog(
  bytes: Uint8Array,
  key: string,
  stated: Verification,
  files: ReadonlyMap<string, FileDigest>,
  { contract: { downloads }, listing }: { contract: Pick<PackageForm, 'downloads'>; listing: ListingResult | null },
): Checked<TransferLog | null> {
  const place = `${key}:${TRANSFER_LOG}`;
  let log: TransferLog;
  try {
    log = readRecord(TRANSFER_LOG_DOCUMENT, bytes, place);
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return { value: null, findings: [toObjectFinding('object/unreadable', place, error.message)] };
  }
  const differences = compareLog(log, stated, files, downloads, listing);
  const findings = [...differences].map(([message, expected, actual]) =>
    toObjectFinding('bundle/contradiction', place, message, { expected, actual }),
  );
  return { value: log, findings };
}

type Difference = readonly [message: string, expected?: string, actual?: string | undefined];

function* compareLog(
  log: TransferLog,
  stated: Verification,
  files: ReadonlyMap<string, FileDigest>,
  downloads: PackageForm['downloads'],
  listing: ListingResult | null,
): Iterable<Difference> {
  yield* checkOwner(log, stated);
  for (const form of FORMS) {
    yield* checkForm(form, log.steps, files);
    yield* checkPath(form, log.steps, downloads[form], stated.verdict.package_id);
  }
  yield* checkSteps(log, stated);
  if (stated.completeness.kind === 'listing') yield* checkListed(log.steps, listing);
}

function* checkOwner(log: TransferLog, { run_id, verdict }: Verification): Iterable<Difference> {
  if (log.run_id !== run_id) yield ['is the transfer log of another run', run_id, log.run_id];
  if (log.stream_id !== verdict.stream_id)
    yield ['is the transfer log of another stream', verdict.stream_id, log.stream_id];
}

/** Checks that the log's steps are those that verification.json rests on. */
function* checkSteps({ steps }: TransferLog, { vendor, completeness, unfetched }: Verification): Iterable<Difference> {
  for (const { step, file } of steps)
    if (file !== undefined && !(FORMS as readonly string[]).includes(step))
      yield [`says that the step "${step}" received ${file}`];
  const asked = steps.some(({ step, exchange }) => step === 'vendor-verify' && exchange !== undefined);
  if (asked !== (vendor !== null))
    yield ["and verification.json differ in whether the service's own check was asked for"];
  if (steps.some(({ step }) => step === 'unfetched') !== (unfetched !== null))
    yield ['and verification.json differ in whether the entries were asked for that no export has'];
  const listed = steps.some(({ step, failure }) => step === 'listing' && failure === undefined);
  if (completeness.kind === 'listing' && !listed) yield ['names no listing, by which completeness was judged'];
}

function* checkForm(
  form: FormName,
  steps: TransferLog['steps'],
  files: ReadonlyMap<string, FileDigest>,
): Iterable<Difference> {
  const path = formFile(form, [...files.keys()]);
  const [step, ...others] = steps.filter((one) => one.step === form);
  if (others.length > 0) {
    yield [`names the ${form} form ${others.length + 1} times`];
  } else if (path === undefined || isPart(path)) {
    if (step?.exchange !== undefined) yield [`says that the ${form} form was received, and it is not here`];
  } else if (step?.exchange === undefined) {
    yield [`does not say that ${path} was received`];
  } else if (step.file !== path) {
    yield [`names the ${form} form otherwise`, step.file ?? 'no file', path];
  } else if (step.exchange.status < 200 || step.exchange.status > 299) {
    yield [`says that ${path} was refused, with the status ${step.exchange.status}`];
  } else {
    yield* checkBytes(path, step.exchange, files.get(path));
  }
}

/** Checks that a form was downloaded from the package's own path in the contract. */
function* checkPath(
  form: FormName,
  steps: TransferLog['steps'],
  template: string | null,
  packageId: string | null,
): Iterable<Difference> {
  if (packageId === null || template === null) return;
  const expected = fillText(template, { package_id: encodeURIComponent(packageId) });
  for (const { step, exchange } of steps)
    if (step === form && exchange !== undefined && !exchange.path.endsWith(expected))
      yield [`says that the ${form} form was downloaded from another place`, expected, exchange.path];
}

function* checkListed(steps: TransferLog['steps'], listing: ListingResult | null): Iterable<Difference> {
  if (listing === null) return;
  const stated = steps.find(({ step }) => step === 'listing')?.listed?.entries;
  if (stated !== listing.lines)
    yield ['counts other entries in the listing than it has lines', String(stated ?? 'none'), String(listing.lines)];
}

function* checkBytes(path: string, stated: FileDigest, actual: FileDigest | undefined): Iterable<Difference> {
  if (actual?.sha256 !== stated.sha256) yield [`states another SHA-256 of ${path}`, stated.sha256, actual?.sha256];
  else if (actual.bytes !== stated.bytes)
    yield [`states another length of ${path}`, String(stated.bytes), String(actual.bytes)];
}
