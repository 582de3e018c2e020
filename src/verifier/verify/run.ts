import { inParallel } from '../../core/parallel.ts';
import type { Archive } from '../archive/archive.ts';
import { measure } from '../archive/content.ts';
import { DEFAULT_REQUIRED, withoutSecrets } from '../claims/claim.ts';
import { asReadBack, asVouchedFor } from '../claims/recorded.ts';
import { documentKey, runPrefix, runRecordKey } from '../records/keys.ts';
import { type VerifiedOutcome, worstOf } from '../records/outcome.ts';
import type { RunDocument, RunRecord } from '../records/record.ts';
import type { StoredAs } from '../records/stored-object.ts';
import { readRunRecord } from '../records/stored-run.ts';
import { outcomesOfSupplements } from '../records/supplements.ts';
import { NOT_VOUCHED } from './alone.ts';
import { verifyAsked } from './asked.ts';
import { type AttestationCheck, verifyAttestations } from './attestations.ts';
import { type ObjectFinding, toObjectFinding, worstWith } from './object-finding.ts';
import { checkRecord } from './run-sums.ts';
import { isRunVouchedFor } from './signatures.ts';
import { checkDigest, isThere, readObject } from './stored.ts';
import { type RunContext, type VerifiedStream, verifyStream } from './stream.ts';
import { verifySupplements } from './supplements.ts';
import type { SupplementsCheck } from './supplements-check.ts';
import { checkHidden, checkMissed, checkVanished } from './unlisted.ts';

// Over ten members: all that was found of a run.
export interface RunCheck {
  runId: string;
  /** A ledger entry records it. A run without one is open, and never verified. */
  isRecorded: boolean;
  /** Later run that counts in its place, see `settleSuperseded`; null where this run counts itself. */
  supersededBy: string | null;
  outcome: VerifiedOutcome;
  /** Null when it cannot be read. */
  record: RunRecord | null;
  sha256: string | null;
  /** Our own verdicts, made now. */
  streams: VerifiedStream[];
  /** Null where the run has none, or the record cannot be read. */
  supplements: SupplementsCheck | null;
  /** Null when the record cannot be read. */
  attestations: AttestationCheck | null;
  findings: ObjectFinding[];
  /** The objects that the run record vouches for, and those that vouch for it. */
  accounted: Set<string>;
}

/** Verifies a finalized run: its record, every stream's record and bundle, every claim anew. */
export async function verifyRun(context: RunContext, runId: string): Promise<RunCheck> {
  const key = runRecordKey(runId);
  const check: RunCheck = {
    runId,
    isRecorded: context.isRecorded(runId),
    supersededBy: null,
    outcome: 'refuted',
    record: null,
    sha256: null,
    streams: [],
    supplements: null,
    attestations: null,
    findings: [],
    accounted: new Set([key]),
  };
  check.record = await readObject(key, check.findings, async () => {
    const stored = await readRunRecord(context.archive, key);
    check.sha256 = stored.sha256;
    return stored.record;
  });
  if (check.record === null || check.sha256 === null) return { ...check, outcome: outcomeOf(check) };
  check.findings = [...check.findings, ...checkRecord(check.record, runId, key)];
  const { record } = check;
  check.supplements = await verifySupplements(context, record, check.findings, async (notes) => {
    await verifyStreams({ ...context, notes }, check, record);
    return check.streams;
  });
  if (record.supplements?.object != null) check.accounted.add(record.supplements.object.key);
  check.findings = [...check.findings, ...checkStreams(context, check.streams, record, key)];
  await verifyBeside(context, check, record);
  await verifyAsked(context.archive, check.record, check.findings);
  check.attestations = await verifyAttestations(context, check.record, check.sha256);
  check.findings.push(...check.attestations.findings);
  for (const key of check.attestations.keys) check.accounted.add(key);
  if (!isRunVouchedFor(context.keyring, check.attestations.signedBy, { id: runId, sha256: check.sha256 }))
    check.streams = check.streams.map((stream) => readBack(stream, UNSIGNED));
  else check.streams = check.streams.map((stream) => vouchedFor(context, stream));
  return { ...check, outcome: outcomeOf(check) };
}

/** Compares the streams of a run with its packages, with earlier runs and with what was accepted. */
function checkStreams(context: RunContext, streams: RunCheck['streams'], record: RunRecord, key: string) {
  return [
    ...checkHidden(record, streams, key),
    ...checkVanished(context, record, key),
    ...checkMissed(context, record, key),
    ...checkAcceptances(context, record, key),
  ];
}

/** Verifies the objects of a run besides its streams and supplements. */
async function verifyBeside({ archive }: RunContext, check: RunCheck, record: RunRecord): Promise<void> {
  for (const object of record.left_over) {
    check.accounted.add(object.key);
    await verifyLeftOver(archive, record, object, check.findings);
  }
  for (const document of record.documents) {
    check.accounted.add(document.key);
    await verifyDocument(archive, record, document, check.findings);
  }
}

/** Returns the outcome of a run by all that was found of it. */
export function outcomeOf(check: Omit<RunCheck, 'outcome'>): VerifiedOutcome {
  const { isRecorded, record, streams, attestations, findings } = check;
  const stated = record === null ? [] : statedOutcome(check, record);
  const isUnfinished = !isRecorded || attestations?.unstamped === true;
  const unfinished = isUnfinished ? ['incomplete' as const] : [];
  return worstWith(findings, [worstOf([...streams.map(({ verdict }) => verdict.status), ...stated, ...unfinished])]);
}

type Why = Parameters<typeof asReadBack>[1];
const UNSIGNED: Why = { completeness: NOT_VOUCHED };
const ALTERED: Why = { completeness: NOT_VOUCHED, continuity: 'this is not the bundle that the ledger speaks of' };

function readBack(stream: VerifiedStream, why: Why): VerifiedStream {
  return { ...stream, verdict: asReadBack(stream.verdict, why, stream.required) };
}

/** A bundle that is not what was signed gains nothing by the signature. */
function vouchedFor({ required: reader = DEFAULT_REQUIRED }: RunContext, stream: VerifiedStream): VerifiedStream {
  if (stream.altered) return stream;
  const required = withoutSecrets(stream.required, reader);
  const verdict = asVouchedFor(stream.verdict, required, stream);
  return verdict === stream.verdict ? stream : { ...stream, verdict, required };
}

function asAltered(stream: VerifiedStream, findings: readonly ObjectFinding[]): VerifiedStream {
  const { verdict, ...rest } = readBack(stream, ALTERED);
  return { ...rest, altered: true, verdict: { ...verdict, status: worstWith(findings, [verdict.status]) } };
}

/** Returns the outcome by a run's own statements. They make it worse, never better; where nothing was looked at, it is no finding of ours. */
function statedOutcome(
  { streams, supersededBy }: Pick<RunCheck, 'streams' | 'supersededBy'>,
  { outcome, streams: recorded, vanished, supplements }: RunRecord,
): VerifiedOutcome[] {
  const isOpened = streams.some(({ verdict }) => verdict.status !== 'recorded');
  // For a superseded run the streams tell what is left of it; what else refuted it stays.
  const isOfStreams = vanished.length === 0 && !outcomesOfSupplements(supplements).includes('refuted');
  if (outcome === 'refuted' && supersededBy !== null && isOfStreams && streams.length === recorded.length) return [];
  if (outcome === 'refuted') return [outcome];
  return outcome === 'incomplete' && (isOpened || streams.length === 0) ? [outcome] : [];
}

/** Several at once, so that the next ones arrive while one is looked at; found and reported in the order of the record. */
async function verifyStreams(context: RunContext, check: RunCheck, record: RunRecord): Promise<void> {
  const found: { findings: ObjectFinding[]; verified: VerifiedStream | null }[] = [];
  await inParallel(record.streams, context.concurrency ?? 1, async (stream) => {
    context.onStream?.(stream.stream_id);
    const place: (typeof found)[number] = { findings: [], verified: null };
    found.push(place);
    check.accounted.add(stream.bundle.key);
    if (stream.record !== null) check.accounted.add(stream.record.key);
    place.verified = await verifyStream(context, record, stream, place.findings);
  });
  for (const { findings, verified } of found) {
    check.findings.push(...findings);
    // An altered stream is neither what anybody signed nor what the ledger speaks of.
    if (verified !== null) check.streams.push(findings.length > 0 ? asAltered(verified, findings) : verified);
  }
}

function checkAcceptances({ isAccepted }: RunContext, { acceptances }: RunRecord, key: string): ObjectFinding[] {
  return acceptances
    .filter((acceptance) => !isAccepted(acceptance))
    .map(({ stream_id }) =>
      toObjectFinding('record/differs', key, `names an acceptance of "${stream_id}" that the ledger does not have`),
    );
}

/**
 * A report must be the one that the record names. It is not made anew to be compared: another version of this program
 * may set it otherwise, and the record's digest says what it was.
 */
async function verifyDocument(
  archive: Archive,
  run: RunRecord,
  document: RunDocument,
  findings: ObjectFinding[],
): Promise<void> {
  if (document.key !== documentKey(run.run_id, document.name))
    findings.push(
      toObjectFinding('record/differs', runRecordKey(run.run_id), `puts ${document.name} where it does not belong`),
    );
  await verifyBytes(archive, document, findings);
}

/** Verifies objects that were left over. They are no evidence, but the record states what lay there when the run was finalized, and where. */
async function verifyLeftOver(
  archive: Archive,
  { run_id }: RunRecord,
  object: StoredAs,
  findings: ObjectFinding[],
): Promise<void> {
  if (object.key.startsWith(runPrefix(run_id))) await verifyBytes(archive, object, findings);
  else
    findings.push(
      toObjectFinding('record/differs', runRecordKey(run_id), `names ${object.key}, which is not of the run`),
    );
}

async function verifyBytes(archive: Archive, stored: StoredAs, findings: ObjectFinding[]): Promise<void> {
  if (!(await isThere(archive, stored.key, findings))) return;
  const read = async () => measure(await archive.read(stored.key));
  const actual = await readObject(stored.key, findings, read);
  if (actual !== null) checkDigest(stored, actual, findings);
}
