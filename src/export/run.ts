import { inParallel } from '../archive/parallel.ts';
import { slugOf } from '../bundle/layout.ts';
import { sha256 } from '../encoding/digest.ts';
import { EvidenceError } from '../errors.ts';
import { readAcceptances } from '../ledger/acceptance.ts';
import { streamRecordKey } from '../ledger/keys.ts';
import { findEntry, readNewestEntry, requireSigned } from '../ledger/ledger.ts';
import { readPast } from '../ledger/past.ts';
import { type RunRecord, readRecord, streamRecordSchema } from '../ledger/record.ts';
import { collectAccount } from './account.ts';
import { readClosing } from './closing.ts';
import type { ExportContext, RunState } from './context.ts';
import type { Journeys, RunResult, StoredRecord } from './journeys.ts';
import { Packing } from './packing.ts';
import { readSealedRun, type SealedRun, selectStreams } from './plan.ts';
import { concludeRun, sealRun } from './seal.ts';
import { exportStream } from './stream.ts';
import { witnessRun } from './witness.ts';

const MAX_STREAM_RECORD_BYTES = 256 * 2 ** 20;

/**
 * The batch job: every stream in scope from the service into the archive, then the run sealed. Streams that already
 * have a record in the archive are done; so the same call resumes a run that was interrupted anywhere.
 */
export async function exportRun(context: ExportContext): Promise<RunResult> {
  const sealed = await readSealedRun(context.archive, context.runId);
  if (sealed !== null) return concludeSealed(context, sealed);
  const newest = await readNewestEntry(context.archive);
  requireSigned(newest, context.signingKey);
  const closed = await readClosing(context.archive, context.runId);
  if (closed !== null) {
    checkPeriod(context, closed.closing);
    return sealRun(context, closed, await readRecords(context));
  }
  const begun = {
    startedAt: context.now(),
    heads: new Map(Object.entries(newest?.entry.heads ?? {})),
    past: await readPast(context.archive, newest),
    acceptances: await readAcceptances(context.archive),
  };
  const selection = await selectStreams(context.client.listStreams(), context.scope);
  const done = await readRecords(context);
  const finished = new Set(done.map(({ record }) => record.stream_id));
  const open = selection.included.filter(({ streamId }) => !finished.has(streamId));
  context.listen({
    type: 'planned',
    runId: context.runId,
    streams: open.length,
    done: done.length,
    excluded: selection.excluded.length,
  });
  const packing = new Packing();
  const run: RunState = { ...begun, account: null, packing };
  if (context.contract.scope === 'account') run.account = once(() => collectAccount(context, run, open));
  const journeys: Journeys = { selection, recorded: done, incomplete: [], failed: [] };
  try {
    await inParallel(open, context.concurrency, async (stream) => {
      const arrival = await exportStream(context, run, stream);
      if (arrival.kind === 'failed') journeys.failed.push(arrival.failure);
      else if (arrival.kind === 'incomplete') journeys.incomplete.push(arrival.record);
    });
  } finally {
    await packing.close();
  }
  journeys.recorded = await readRecords(context);
  return concludeRun(context, run, journeys);
}

/** A run that is sealed is never changed; only what an interruption kept from being added to it is added. */
async function concludeSealed(context: ExportContext, sealed: SealedRun): Promise<RunResult> {
  const { record } = sealed;
  checkPeriod(context, record);
  const recorded = (await findEntry(context.archive, record.run_id)) !== null;
  return { record, state: 'already', unstamped: await witnessRun(context, sealed, recorded) };
}

function checkPeriod(context: ExportContext, { run_id, period }: Pick<RunRecord, 'run_id' | 'period'>): void {
  const { from, to } = context.period;
  if (period.from === from && period.to === to) return;
  throw new EvidenceError('usage', `run ${run_id} is sealed, and it is of another period than the one asked for`, {
    nextStep: 'Give this request another id, or the same period as before.',
  });
}

/** The records of the streams that are done, by stream id. */
async function readRecords(context: ExportContext): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const { key, version_id } of context.archive.list(`runs/${context.runId}/streams/`)) {
    if (!key.endsWith('.json')) continue;
    const bytes = await context.archive.readBytes(key, MAX_STREAM_RECORD_BYTES);
    const record = readRecord(streamRecordSchema, bytes, key);
    if (key !== streamRecordKey(context.runId, slugOf(record.stream_id))) continue;
    records.push({
      record,
      key,
      bytes: bytes.length,
      sha256: sha256(bytes),
      ...(version_id === undefined ? {} : { version_id }),
    });
  }
  return records.sort((a, b) => (a.record.stream_id < b.record.stream_id ? -1 : 1));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
