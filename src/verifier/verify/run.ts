import { inParallel } from '../../core/parallel.ts';
import { measure, type ReadableArchive } from '../archive/archive.ts';
import { DEFAULT_REQUIRED, withoutSecrets } from '../claims/claim.ts';
import { asReadBack, asVouchedFor } from '../claims/recorded.ts';
import { askedKey, documentKey, runPrefix, runRecordKey } from '../records/keys.ts';
import { type VerifiedOutcome, worstOf } from '../records/outcome.ts';
import { type Asked, differencesOf, type Question, readAsked } from '../records/question.ts';
import type { RunDocument, RunRecord, RunStream } from '../records/record.ts';
import type { StoredAs } from '../records/stored-object.ts';
import { readRunRecord } from '../records/stored-run.ts';
import { outcomesOfSupplements } from '../records/supplements.ts';
import { type AttestationCheck, verifyAttestations } from './attestations.ts';
import { NOT_VOUCHED } from './file-report.ts';
import { type Checked, type ObjectFinding, readObject, recordDiffers, worstWith } from './object-finding.ts';
import { checkHidden, checkMissed, checkRecord, checkVanished } from './run-sums.ts';
import { isRunVouchedFor } from './signatures.ts';
import { checkDigest, isThere } from './stored.ts';
import { type RunContext, type VerifiedStream, verifyStream } from './stream.ts';
import { OpenedSupplements } from './supplements.ts';
import type { SupplementsCheck } from './supplements-check.ts';

// Over ten members: everything found about a run.
export interface RunCheck {
  runId: string;
  /** True if a ledger entry records the run. A run without one is open, and never verified. */
  isRecorded: boolean;
  /** Later run that replaces this one, see `settleSuperseded`; null if this run counts itself. */
  supersededBy: string | null;
  outcome: VerifiedOutcome;
  /** Null if it cannot be read. */
  record: RunRecord | null;
  sha256: string | null;
  /** Our own verdicts. */
  streams: VerifiedStream[];
  /** Null if the run has none, or its record cannot be read. */
  supplements: SupplementsCheck | null;
  /** Null if the record cannot be read. */
  attestations: AttestationCheck | null;
  findings: ObjectFinding[];
  /** Keys of objects that the run record vouches for, and of those that vouch for it. */
  accounted: Set<string>;
}

/** Verifies a finalized run: its record, the record and bundle of every stream, and every claim. */
export async function verifyRun(context: RunContext, runId: string): Promise<RunCheck> {
  const key = runRecordKey(runId);
  const { value: stored, findings: unread } = await readObject(key, () => readRunRecord(context.archive, key));
  if (stored === null) return concluded(context, { ...UNREAD, runId, findings: unread, accounted: new Set([key]) });
  const { record, sha256 } = stored;
  await using opened = await OpenedSupplements.open(context, record);
  const streams = await verifyStreams({ ...context, notes: opened.notes }, record);
  const supplements = await opened.judge(streams.value);
  const beside = await verifyBeside(context, record);
  const attestations = await verifyAttestations(context, record, sha256);
  const findings = [
    ...checkRecord(record, runId, key),
    ...opened.findings,
    ...streams.findings,
    ...supplements.findings,
    ...checkStreams(context, streams.value, record, key),
    ...beside,
    ...attestations.findings,
  ];
  const isVouchedFor = isRunVouchedFor(context.keyring, attestations.signedBy, { id: runId, sha256 });
  return concluded(context, {
    runId,
    record,
    sha256,
    streams: streams.value.map((stream) => (isVouchedFor ? vouchedFor(context, stream) : readBack(stream, UNSIGNED))),
    supplements: supplements.value,
    attestations,
    findings,
    accounted: new Set([key, ...keysIn(record), ...attestations.keys]),
  });
}

const UNREAD = { record: null, sha256: null, streams: [], supplements: null, attestations: null };

function concluded(
  { isRecorded }: RunContext,
  check: Omit<RunCheck, 'isRecorded' | 'supersededBy' | 'outcome'>,
): RunCheck {
  const known = { ...check, isRecorded: isRecorded(check.runId), supersededBy: null };
  return { ...known, outcome: outcomeOf(known) };
}

/** Returns the keys of the objects that a run record names. */
function keysIn({ streams, supplements, left_over, documents }: RunRecord): string[] {
  const ofStreams = streams.flatMap(({ bundle, record }) => [bundle, record]);
  const all = [...ofStreams, supplements?.object ?? null, ...left_over, ...documents];
  return all.flatMap((object) => object?.key ?? []);
}

/** Compares the streams of a run with its packages, with earlier runs and with acceptances. */
function checkStreams(context: RunContext, streams: RunCheck['streams'], record: RunRecord, key: string) {
  return [
    ...checkHidden(record, streams, key),
    ...checkVanished(context, record, key),
    ...checkMissed(context, record, key),
    ...checkAcceptances(context, record, key),
  ];
}

/** Verifies the objects of a run other than its streams and supplements. */
async function verifyBeside({ archive }: RunContext, record: RunRecord): Promise<ObjectFinding[]> {
  const findings: ObjectFinding[] = [];
  for (const object of record.left_over) findings.push(...(await verifyLeftOver(archive, record, object)));
  for (const document of record.documents) findings.push(...(await verifyDocument(archive, record, document)));
  return [...findings, ...(await verifyAsked(archive, record))];
}

/** Returns the outcome of a run from everything found about it. */
export function outcomeOf(check: Omit<RunCheck, 'outcome'>): VerifiedOutcome {
  const { isRecorded, record, streams, attestations, findings } = check;
  const stated = record === null ? [] : statedOutcome(check, record);
  const isUnfinished = !isRecorded || attestations?.unstamped === true;
  const unfinished = isUnfinished ? ['incomplete' as const] : [];
  return worstWith(findings, [worstOf([...streams.map(({ verdict }) => verdict.status), ...stated, ...unfinished])]);
}

type Why = Parameters<typeof asReadBack>[1];
const UNSIGNED: Why = { completeness: NOT_VOUCHED };
const ALTERED: Why = { completeness: NOT_VOUCHED, continuity: 'this is not the bundle that the ledger records' };

function readBack(stream: VerifiedStream, why: Why): VerifiedStream {
  return { ...stream, verdict: asReadBack(stream.verdict, why, stream.required) };
}

/** Applies the signature of a run to a stream; an altered bundle gains nothing by it. */
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

/**
 * Returns the outcomes that the run's own statements add, which only make it worse. If no bundle was opened, recorded
 * incompleteness is no finding of ours.
 */
function statedOutcome(
  { streams, supersededBy }: Pick<RunCheck, 'streams' | 'supersededBy'>,
  { outcome, streams: recorded, vanished, supplements }: RunRecord,
): VerifiedOutcome[] {
  const isOpened = streams.some(({ verdict }) => verdict.status !== 'recorded');
  // A superseded run is judged by its streams; refutations from elsewhere stay.
  const isOfStreams = vanished.length === 0 && !outcomesOfSupplements(supplements).includes('refuted');
  if (outcome === 'refuted' && supersededBy !== null && isOfStreams && streams.length === recorded.length) return [];
  if (outcome === 'refuted') return [outcome];
  return outcome === 'incomplete' && (isOpened || streams.length === 0) ? [outcome] : [];
}

/**
 * Verifies streams in parallel, so that the next ones arrive during a check; results are in the order of the record.
 */
async function verifyStreams(context: RunContext, record: RunRecord): Promise<Checked<VerifiedStream[]>> {
  const found = new Map<RunStream, Checked<VerifiedStream | null>>();
  await inParallel(record.streams, context.concurrency ?? 1, async (stream) => {
    context.onStream?.(stream.stream_id);
    found.set(stream, await verifyStream(context, record, stream));
  });
  const all = [...record.streams].flatMap((stream) => found.get(stream) ?? []);
  return {
    // An altered stream is neither the signed one nor the one that the ledger records.
    value: all.flatMap(({ value, findings }) =>
      findings.length > 0 && value !== null ? asAltered(value, findings) : (value ?? []),
    ),
    findings: all.flatMap(({ findings }) => findings),
  };
}

function checkAcceptances({ isAccepted }: RunContext, { acceptances }: RunRecord, key: string): ObjectFinding[] {
  return acceptances
    .filter((acceptance) => !isAccepted(acceptance))
    .map(({ stream_id }) => recordDiffers(key, `names an acceptance of "${stream_id}" that the ledger does not have`));
}

/**
 * Checks that a report is the one that the record names, by its digest. The report is not generated again, because
 * another version of this program may set it differently.
 */
async function verifyDocument(
  archive: ReadableArchive,
  run: RunRecord,
  document: RunDocument,
): Promise<ObjectFinding[]> {
  const message = `states the wrong key for ${document.name}`;
  const misplaced =
    document.key === documentKey(run.run_id, document.name) ? [] : [recordDiffers(runRecordKey(run.run_id), message)];
  return [...misplaced, ...(await verifyBytes(archive, document))];
}

/**
 * Verifies objects that were left over. They are no evidence, but the record states them and their places when the run
 * was finalized.
 */
async function verifyLeftOver(
  archive: ReadableArchive,
  { run_id }: RunRecord,
  object: StoredAs,
): Promise<ObjectFinding[]> {
  if (object.key.startsWith(runPrefix(run_id))) return verifyBytes(archive, object);
  const message = `names ${object.key}, which does not belong to the run`;
  return [recordDiffers(runRecordKey(run_id), message)];
}

async function verifyBytes(archive: ReadableArchive, stored: StoredAs): Promise<ObjectFinding[]> {
  const there = await isThere(archive, stored.key);
  if (!there.value) return there.findings;
  const read = async () => measure(await archive.read(stored.key));
  const { value: actual, findings } = await readObject(stored.key, read);
  return actual === null ? findings : checkDigest(stored, actual);
}

/** Checks that the question stored at the start of a run, if the record names it, is the recorded one. */
async function verifyAsked(archive: ReadableArchive, record: RunRecord): Promise<ObjectFinding[]> {
  const key = askedKey(record.run_id);
  if (record.documents.every((document) => document.key !== key)) return [];
  const { value: begun, findings } = await readObject(key, async () =>
    (await archive.stat(key)) === null ? null : readAsked(archive, record.run_id),
  );
  const differences = begun === null ? [] : differencesBetween(begun.asked, record);
  if (differences.length === 0) return findings;
  return [recordDiffers(key, `differs from the run record: ${differences.join('; ')}`)];
}

function differencesBetween(asked: Asked, record: RunRecord & Question): string[] {
  const isOfRun =
    asked.run_id === record.run_id &&
    asked.begun_at === record.begun_at &&
    asked.begun_at_by_service === record.begun_at_by_service;
  return [...(isOfRun ? [] : ['run or time of beginning']), ...differencesOf(asked, record)];
}
