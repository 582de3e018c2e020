import { utf8Bytes, withoutByteOrderMark } from '../../core/bytes.ts';
import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import { plural } from '../../core/plurals.ts';
import type { Bundle } from '../bundle/bundle.ts';
import { SERVICE_DOCUMENT, type ServiceDocument, type TransferLog, type Verification } from '../bundle/documents.ts';
import { LISTING, SERVICE } from '../bundle/files.ts';
import type { ListingResult, PackageCut } from '../claims/listing.ts';
import { answerReader } from '../profile/answers.ts';
import type { Description } from '../profile/description.ts';
import { readDocument } from './document.ts';
import { type Checked, checked, type ObjectFinding, toObjectFinding } from './object-finding.ts';

/**
 * Reads the bundle's record of the service's statements apart from the package; null if there is none that can be read.
 */
export async function readServiceDocument(bundle: Bundle, key: string): Promise<Checked<ServiceDocument | null>> {
  // A missing document is reported with all other missing files.
  if (bundle.entries.every(({ path }) => path !== SERVICE)) return checked(null);
  return readDocument(bundle, key, SERVICE, SERVICE_DOCUMENT);
}

/** Returns the limits for comparing the bundle's listing; null if completeness rests on none. */
export function cutOf({ completeness, statement }: Verification, service: ServiceDocument | null): PackageCut | null {
  const { listing = null } = service ?? {};
  if (completeness.kind !== 'listing' || listing === null) return null;
  const { asked_at, asked_at_by_service, latest } = listing;
  return {
    askedAt: Date.parse(asked_at),
    askedAtByService: asked_at_by_service === null ? null : Date.parse(asked_at_by_service),
    statedHead: statement.head.sequence,
    latest: Date.parse(latest),
  };
}

/**
 * Checks that the claims rest on the recorded statements of the service: its record of the stream, its own check and
 * its listing.
 *
 * @param paths paths of the files in the bundle.
 * @param description contract by which the bundle was read; null if the reader supplied another.
 * @param steps steps of the transfer log; null if it cannot be read.
 */
export function checkServiceDocument(
  service: ServiceDocument,
  stated: Verification,
  paths: readonly string[],
  description: Description | null,
  steps: TransferLog['steps'] | null,
): string[] {
  const { run_id, verdict, completeness, vendor } = stated;
  const isListed = completeness.kind === 'listing';
  const answer = steps?.find(({ step }) => step === 'vendor-verify')?.exchange;
  const wrong: [boolean, string][] = [
    [service.run_id !== run_id, `is of run ${service.run_id}`],
    [service.stream_id !== verdict.stream_id, `is of the stream "${service.stream_id}"`],
    [isListed !== (service.listing !== null), 'and verification.json differ in whether the entries were listed'],
    [isListed !== paths.includes(LISTING), `and verification.json differ in whether there is ${LISTING}`],
    [
      (service.check_answer === null) !== (vendor === null),
      "and verification.json differ in what the service's own check said",
    ],
    [
      steps !== null && service.check_answer !== null && sha256(service.check_answer) !== answer?.sha256,
      "holds another answer of the service's own check than the transfer log",
    ],
    [
      description !== null && !statesTheSame(service, stated, description),
      'contradicts what verification.json takes from it',
    ],
  ];
  return wrong.filter(([is]) => is).map(([, message]) => message);
}

/** Checks that the bundle's listing has a line for each entry of the recorded pages. */
export function checkPages(service: ServiceDocument, place: string, listing: ListingResult | null): ObjectFinding[] {
  if (service.listing === null || listing === null) return [];
  const { lines } = listing;
  const stated = service.listing.pages.reduce((sum, { entries }) => sum + entries, 0);
  if (stated === lines) return [];
  const message = `states ${plural(stated, 'entry')} in the pages of the listing, and ${LISTING} has ${plural(lines, 'line')}`;
  return [toObjectFinding('bundle/contradiction', place, message, { expected: String(stated), actual: String(lines) })];
}

const NOT_LISTED = { entryCount: null, headSequence: null, headDigest: null };

/** Compares the facts by which the claims were judged with those that the contract reads in the service's own words. */
function statesTheSame(service: ServiceDocument, stated: Verification, description: Description): boolean {
  const { statement, vendor } = stated;
  const answers = answerReader(description);
  try {
    const record = parseAnswer(service.stream_record);
    const { entries, head } = statement;
    // A stream that the list of streams lacks can only come from an account's package.
    if (record === null && description.generate.scope !== 'account') return false;
    const listed = record === null ? { streamId: service.stream_id, ...NOT_LISTED } : answers.stream(record);
    const { streamId, entryCount, headSequence, headDigest } = listed;
    if (streamId !== service.stream_id) return false;
    if (entries !== entryCount || head.sequence !== headSequence || head.hash !== headDigest) return false;
    if (service.check_answer === null || vendor === null) return true;
    const { verified, checkedAt, failedSequences } = answers.verification(parseAnswer(service.check_answer));
    return (
      vendor.verified === verified &&
      vendor.checked_at === checkedAt &&
      JSON.stringify(vendor.failed_sequences) === JSON.stringify(failedSequences)
    );
  } catch (error) {
    if (isEvidenceError(error)) return false;
    throw error;
  }
}

/**
 * Parses an answer as the exporter does: a string may contain a lone surrogate.
 * @throws EvidenceError `unreadable` if the text is not JSON, or repeats a member name in one object.
 */
function parseAnswer(text: string): Json {
  const { value, repeatsName } = parseExactJson(withoutByteOrderMark(utf8Bytes(text)));
  if (repeatsName) throw new EvidenceError('unreadable', 'an answer of the service has a member name twice');
  return value;
}
