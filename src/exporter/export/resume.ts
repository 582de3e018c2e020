import { whereDefined } from '../../core/defined.ts';
import { sha256 } from '../../core/digest.ts';
import { inParallel } from '../../core/parallel.ts';
import { findBy, type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { toStatementDocument } from '../../verifier/bundle/known.ts';
import { bundleKey, streamRecordKey, streamSlugOf } from '../../verifier/records/keys.ts';
import type { RunDraft, StreamRecord } from '../../verifier/records/record.ts';
import { compareWithList } from '../../verifier/records/run-algebra.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import type { ExportContext } from './context.ts';
import { bundleNames } from './encrypt.ts';
import type { FindListed, StreamSelection } from './plan.ts';
import { notOurs, putStreamRecord, readStreamRecord } from './records.ts';
import { recoverBundle, recoverRecord } from './recover.ts';
import {
  type Recovered,
  receivedOf,
  type StoredRecord,
  type StreamOutcome,
  type StreamOutcomes,
} from './stream-jobs.ts';

/** Streams in the service's present list; `readAt` is not later than the time of the list. */
interface ListedNow {
  find: FindListed;
  readAt: string;
}

/**
 * Resumes the streams that an interrupted attempt has recorded, or only archived. Each is verified again and compared
 * with the service's present statements.
 *
 * @param objects under the run's prefix. @param begunAt start of this attempt, before it read the list.
 * @param outcomes receives each outcome.
 * @returns the ids of the resumed streams.
 * @throws EvidenceError `conflict` for an object that this run did not leave, or that does not verify.
 */
export async function resumeStreams(
  context: ExportContext,
  objects: Rows<StoredObject>,
  { included }: StreamSelection,
  begunAt: Date,
  outcomes: StreamOutcomes,
): Promise<Set<string>> {
  const find = findBy(included, ({ streamId }) => streamId);
  const listed: ListedNow = { find, readAt: begunAt.toISOString() };
  const resumed = new Set<string>();
  await inParallel(leftStreams(context, objects), context.runtime.concurrency, async (left) => {
    context.runtime.signal.throwIfAborted();
    const outcome = await resumeLeft(context, left, listed);
    outcomes.add(outcome);
    resumed.add(receivedOf(outcome).stream_id);
  });
  return resumed;
}

/**
 * Returns the records of a frozen run, sorted by stream id.
 * @param known records that this process wrote or already verified.
 * @throws EvidenceError `conflict` if a record is not the one in the draft, or does not verify.
 */
export async function recordsOf(
  context: ExportContext,
  { streams }: RunDraft,
  known: Rows<StoredRecord>,
): Promise<Rows<StoredRecord>> {
  const knownAt = findBy(known, ({ key }) => key);
  const records = new RowsBuilder<StoredRecord>();
  await inParallel(streams, context.runtime.concurrency, async (named) => {
    const ours = knownAt(named.key);
    if (ours?.sha256 === named.sha256) {
      records.push(ours);
      return;
    }
    const { record, bytes } = await recoverRecord(context, named.key);
    if (sha256(bytes) !== named.sha256) throw notOurs(named.key, 'it is not the record that the run draft fixed');
    records.push({ record, ...named });
  });
  return records.finishSorted(({ record }) => record.stream_id);
}

/** Objects of a stream that an earlier attempt left in the archive. */
interface LeftStream {
  recordKey: string;
  /** Record of the stream; null if the stream has only a bundle. */
  record: StoredObject | null;
  /** Key of the bundle, or of the record if there is no bundle. */
  key: string;
}

/** Outcome of a resumed stream. If a worker of this attempt received the stream, it is not `recovered`. */
type Resumed = Exclude<StreamOutcome, { kind: 'failed' }>;

/**
 * Resumes one stream, as `resumeStreams` does.
 * @throws EvidenceError as `resumeStreams` does.
 */
export async function resumeLeft(
  context: ExportContext,
  { recordKey, record, key }: LeftStream,
  listed: ListedNow,
): Promise<Resumed> {
  return record === null ? resumeBundle(context, key, listed) : resumeRecord(context, recordKey, record, listed);
}

async function resumeRecord(
  context: ExportContext,
  key: string,
  { version_id }: StoredObject,
  listed: ListedNow,
): Promise<Resumed> {
  const { record, recovered, ...content } = (await findRecorded(context, key)) ?? (await verifyRecorded(context, key));
  checkList(record, listed);
  const place = { key, ...content, ...whereDefined({ version_id }) };
  return { kind: 'recorded', stored: { record, ...place }, recovered };
}

/** Stream record with the size and digest of its bytes. */
interface ReadRecord {
  record: Unbound<StreamRecord>;
  recovered: Recovered | null;
  bytes: number;
  sha256: string;
}

/** Returns the record if a worker verified the stream in this attempt; null otherwise. */
async function findRecorded(context: ExportContext, key: string): Promise<ReadRecord | null> {
  if (context.handedOut === null) return null;
  const { record, bytes } = await readStreamRecord(context, key);
  const content = { bytes: bytes.length, sha256: sha256(bytes) };
  const found = await context.handedOut.recordedAs({ key, sha256: content.sha256 });
  if (found === null) return null;
  return { record, recovered: found.recovered === null ? null : { record, ...found.recovered }, ...content };
}

async function verifyRecorded(context: ExportContext, key: string): Promise<ReadRecord> {
  const { record, bytes, unread } = await recoverRecord(context, key);
  return { record, recovered: { record, unread }, bytes: bytes.length, sha256: sha256(bytes) };
}

async function resumeBundle(context: ExportContext, key: string, listed: ListedNow): Promise<Resumed> {
  const recovered = await recoverBundle(context, key, listed.find);
  const { record } = recovered;
  checkList(record, listed);
  if (record.status === 'incomplete' && !context.finalizePartial)
    return { kind: 'incomplete', record, recovered, isRefused: false };
  return { kind: 'recorded', stored: await putStreamRecord(context, record), recovered };
}

/**
 * Throws if the service now states fewer entries than the record, or another entry in the same place: that is another
 * history.
 */
function checkList(record: Unbound<StreamRecord>, { find, readAt }: ListedNow): void {
  const stream = find(record.stream_id);
  if (stream === undefined) return;
  // Resumed streams come from an earlier attempt, so `impossible` cannot occur.
  const [found] = compareWithList(record, toStatementDocument(stream), readAt);
  if (found?.kind === 'contradicts') throw notOurs(record.bundle.key, found.message);
}

/** Yields the streams of which an attempt left something in the archive. */
export function* leftStreams(
  { question: { run_id: runId }, finalizePartial }: ExportContext,
  objects: Rows<StoredObject>,
): Generator<LeftStream> {
  /** Position of the record and rank of the bundle (see `bundleKeys`), by slug. */
  const left = new Map<string, { record: number | null; bundle: number | null }>();
  let place = 0;
  for (const { key } of objects) {
    const slug = streamSlugOf(key);
    const record = place++;
    if (slug === null) continue;
    const known = left.get(slug) ?? { record: null, bundle: null };
    const rank = bundleKeys(runId, slug, finalizePartial).indexOf(key);
    if (key === streamRecordKey(runId, slug)) left.set(slug, { ...known, record });
    else if (rank !== -1) left.set(slug, { ...known, bundle: Math.min(rank, known.bundle ?? rank) });
  }
  for (const [slug, { record, bundle }] of left) {
    const recordKey = streamRecordKey(runId, slug);
    const key = (bundle === null ? undefined : bundleKeys(runId, slug, finalizePartial)[bundle]) ?? recordKey;
    yield { recordKey, key, record: record === null ? null : (objects.at(record) ?? null) };
  }
}

/**
 * Lists the possible keys of a stream's bundle, in order of precedence. Partial bundles are ignored unless they are to
 * be finalized; the stream is then collected again.
 */
function bundleKeys(runId: string, slug: string, finalizePartial: boolean): string[] {
  const names = [...bundleNames(slug)].filter(({ partial }) => !partial || finalizePartial);
  return names.map(({ name }) => bundleKey(runId, name));
}
