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
import { notOurs, putStreamRecord } from './records.ts';
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
  await inParallel(leftStreams(context, objects), context.runtime.concurrency, async ({ recordKey, key }) => {
    context.runtime.signal.throwIfAborted();
    const found = objects.has(recordKey)
      ? await resumeRecord(context, recordKey, objects.get(recordKey)?.version_id, listed)
      : await resumeBundle(context, key, listed);
    resumed.recovered.push(found.recovered);
    if (found.stored === null) resumed.incomplete.push(found.recovered.record);
    else resumed.recorded.push(found.stored);
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

/** What a stream is to be gone on with. */
interface Resumable {
  recovered: Recovered;
  /** Null where it is not done. */
  stored: StoredRecord | null;
}

async function resumeRecord(
  context: ExportContext,
  key: string,
  version_id: string | undefined,
  listed: ListedNow,
): Promise<Resumable> {
  const { record, bytes, unread } = await recoverRecord(context, key);
  checkList(record, listed);
  const place = {
    key,
    bytes: bytes.length,
    sha256: sha256(bytes),
    ...(version_id === undefined ? {} : { version_id }),
  };
  return { recovered: { record, unread }, stored: { record, ...place } };
}

async function resumeBundle(context: ExportContext, key: string, listed: ListedNow): Promise<Resumable> {
  const recovered = await recoverBundle(context, key, listed.streams);
  checkList(recovered.record, listed);
  if (recovered.record.status === 'incomplete' && !context.finalizePartial) return { recovered, stored: null };
  return { recovered, stored: await putStreamRecord(context, recovered.record) };
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
function leftStreams(
  { question: { run_id: runId }, finalizePartial }: ExportContext,
  objects: ReadonlyMap<string, StoredObject>,
): { recordKey: string; key: string }[] {
  const left = new Map<string, string>();
  for (const key of objects.keys()) {
    const slug = streamSlugOf(key);
    if (slug === null) continue;
    const names = [...bundleNames(slug)].filter(({ partial }) => !partial || finalizePartial);
    const bundle = names.map(({ name }) => bundleKey(runId, name)).find((place) => objects.has(place));
    const recordKey = streamRecordKey(runId, slug);
    // One that must not be taken for whole is left where nobody asks for it, and the stream is collected again.
    if (bundle !== undefined || objects.has(recordKey)) left.set(recordKey, bundle ?? recordKey);
  }
  return [...left].map(([recordKey, key]) => ({ recordKey, key }));
}
