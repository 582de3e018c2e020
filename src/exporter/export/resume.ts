import { sha256 } from '../../core/digest.ts';
import { inParallel } from '../../core/parallel.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { toStatementDocument } from '../../verifier/bundle/known.ts';
import { bundleKey, streamRecordKey, streamSlugOf } from '../../verifier/records/keys.ts';
import type { RunDraft, StreamRecord } from '../../verifier/records/record.ts';
import { compareWithList } from '../../verifier/records/run-algebra.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import type { ExportContext } from './context.ts';
import { bundleNames } from './encrypt.ts';
import type { ListedStream, StreamSelection } from './plan.ts';
import { notOurs, putStreamRecord, readStreamRecord } from './records.ts';
import { recoverBundle, recoverRecord } from './recover.ts';
import type { Recovered, StoredRecord } from './stream-jobs.ts';

/** The streams as the service lists them now; `readAt` is not later than when it did. */
interface ListedNow {
  streams: ReadonlyMap<string, ListedStream>;
  readAt: string;
}

/** What an interrupted try of this run has left that can be gone on with. */
export interface Resumed {
  recorded: StoredRecord[];
  /** Streams of which not all that is required now is proved. */
  incomplete: Unbound<StreamRecord>[];
  recovered: Recovered[];
}

/**
 * Goes on with the streams that an interrupted try has recorded, or only archived: each is verified anew, and held against
 * what the service states now.
 *
 * @param objects all that lies under the run. @param begunAt when this attempt began, before it read the list.
 * @throws EvidenceError `conflict` for anything that this run did not leave there, or that does not hold.
 */
export async function resumeStreams(
  context: ExportContext,
  objects: ReadonlyMap<string, StoredObject>,
  { included }: StreamSelection,
  begunAt: Date,
): Promise<Resumed> {
  const streams = new Map(included.map((stream) => [stream.streamId, stream]));
  const listed: ListedNow = { streams, readAt: begunAt.toISOString() };
  const resumed: Resumed = { recorded: [], incomplete: [], recovered: [] };
  await inParallel(leftStreams(context, objects), context.runtime.concurrency, async (left) => {
    context.runtime.signal.throwIfAborted();
    const { record, recovered, stored } = await resumeLeft(context, left, listed);
    if (recovered !== null) resumed.recovered.push(recovered);
    if (stored === null) resumed.incomplete.push(record);
    else resumed.recorded.push(stored);
  });
  resumed.recorded.sort((a, b) => (a.record.stream_id < b.record.stream_id ? -1 : 1));
  return resumed;
}

/**
 * The records of a run that is frozen.
 * @param known those that this process wrote or verified already.
 * @throws EvidenceError `conflict` for one that is not the one that the run was frozen with, or that does not hold.
 */
export async function recordsOf(
  context: ExportContext,
  { streams }: RunDraft,
  known: readonly StoredRecord[],
): Promise<StoredRecord[]> {
  const byKey = new Map(known.map((stored) => [stored.key, stored]));
  const records: StoredRecord[] = [];
  await inParallel(streams, context.runtime.concurrency, async (named) => {
    const ours = byKey.get(named.key);
    if (ours?.sha256 === named.sha256) {
      records.push(ours);
      return;
    }
    const { record, bytes } = await recoverRecord(context, named.key);
    if (sha256(bytes) !== named.sha256) throw notOurs(named.key, 'it is not the record that the run was frozen with');
    records.push({ record, ...named });
  });
  return records;
}

/** Objects of a stream that an earlier attempt left in the archive. */
export interface LeftStream {
  recordKey: string;
  /** Null where the stream has a bundle and no record. */
  record: StoredObject | null;
  /** Key of the bundle, or where there is none, of the record. */
  key: string;
}

/** What a stream is to be gone on with. */
interface Resumable {
  record: Unbound<StreamRecord>;
  /** Null for a stream that a worker of this attempt received. */
  recovered: Recovered | null;
  /** Null where it is not done. */
  stored: StoredRecord | null;
}

/**
 * Goes on with one stream, as `resumeStreams` does with all.
 * @throws EvidenceError as `resumeStreams` does.
 */
export async function resumeLeft(
  context: ExportContext,
  { recordKey, record, key }: LeftStream,
  listed: ListedNow,
): Promise<Resumable> {
  return record === null ? resumeBundle(context, key, listed) : resumeRecord(context, recordKey, record, listed);
}

async function resumeRecord(
  context: ExportContext,
  key: string,
  { version_id }: StoredObject,
  listed: ListedNow,
): Promise<Resumable> {
  const { record, recovered, ...content } = (await findRecorded(context, key)) ?? (await verifyRecorded(context, key));
  checkList(record, listed);
  const place = { key, ...content, ...(version_id === undefined ? {} : { version_id }) };
  return { record, recovered, stored: { record, ...place } };
}

/** A record and what its bytes are. */
interface ReadRecord extends Pick<Resumable, 'record' | 'recovered'> {
  bytes: number;
  sha256: string;
}

/** The record of a worker that verified the stream in this attempt; null for any other. */
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

async function resumeBundle(context: ExportContext, key: string, listed: ListedNow): Promise<Resumable> {
  const recovered = await recoverBundle(context, key, listed.streams);
  const { record } = recovered;
  checkList(record, listed);
  if (record.status === 'incomplete' && !context.finalizePartial) return { record, recovered, stored: null };
  return { record, recovered, stored: await putStreamRecord(context, record) };
}

/** The service still states what was found then: less, or another entry in the same place, is another history. */
function checkList(record: Unbound<StreamRecord>, { streams, readAt }: ListedNow): void {
  const stream = streams.get(record.stream_id);
  if (stream === undefined) return;
  // Only what an earlier attempt received is resumed.
  const [found] = compareWithList(record, toStatementDocument(stream), readAt);
  if (found?.kind === 'contradicts') throw notOurs(record.bundle.key, found.message);
}

/** A stream that left something, by where its record and its bundle lie. */
export function leftStreams(
  { question: { run_id: runId }, finalizePartial }: ExportContext,
  objects: ReadonlyMap<string, StoredObject>,
): LeftStream[] {
  const left = new Map<string, LeftStream>();
  for (const key of objects.keys()) {
    const slug = streamSlugOf(key);
    if (slug === null) continue;
    const names = [...bundleNames(slug)].filter(({ partial }) => !partial || finalizePartial);
    const bundle = names.map(({ name }) => bundleKey(runId, name)).find((place) => objects.has(place));
    const recordKey = streamRecordKey(runId, slug);
    // One that must not be taken for whole is left where nobody asks for it, and the stream is collected again.
    const record = objects.get(recordKey) ?? null;
    if (bundle !== undefined || record !== null) left.set(recordKey, { recordKey, record, key: bundle ?? recordKey });
  }
  return [...left.values()];
}
