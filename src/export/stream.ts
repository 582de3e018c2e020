import { mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bundleFileName, slugOf } from '../bundle/layout.ts';
import type { PdfReading, VendorVerdict } from '../claims/agreement.ts';
import type { Examination } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import { SERVICE_CHANGED } from '../client/audit.ts';
import type { SummaryFacts } from '../contract/contract.ts';
import { readPdfFacts } from '../contract/pdf.ts';
import { sha256 } from '../encoding/digest.ts';
import { type ErrorCode, EvidenceError, isEvidenceError } from '../errors.ts';
import { attemptPrefix, bundleKey, streamRecordKey } from '../ledger/keys.ts';
import {
  type Failure,
  readRecord,
  type StreamRecord,
  streamRecordSchema,
  toRecordBytes,
  whereKept,
} from '../ledger/record.ts';
import { adoptBundle, adoptRival } from './adopt.ts';
import { packBag } from './bag.ts';
import { describeRestart, type ExportContext, type RunState } from './context.ts';
import { announceEncrypted, toStoredForm } from './encrypt.ts';
import { type Compared, compareWithPast } from './past.ts';
import type { ListedStream } from './plan.ts';
import { Collection, type Received } from './receive.ts';

/** Where a stream's journey ended. */
export type Arrival =
  | { kind: 'recorded'; record: StreamRecord }
  /** Archived as an attempt; the run cannot be sealed with it. */
  | { kind: 'incomplete'; record: StreamRecord }
  | { kind: 'failed'; failure: Failure };

const MAX_RECORD_BYTES = 256 * 2 ** 20;
const MAX_SUMMARY_BYTES = 16 * 2 ** 20;
const MAX_PDF_BYTES = 64 * 2 ** 20;
/** Two pages take a tenth of a second; a PDF made to take for ever must not hold up the run. */
const PDF_WITHIN_MS = 30_000;

/**
 * One stream from the service into the archive. Everything that was received is archived, whatever the verdict; the
 * record is written last, so a stream with a record is done.
 */
export async function exportStream(context: ExportContext, run: RunState, stream: ListedStream): Promise<Arrival> {
  const { streamId } = stream;
  const slug = slugOf(streamId);
  const folder = join(context.workDirectory, slug);
  context.listen({ type: 'started', streamId });
  await mkdir(folder, { recursive: true });
  try {
    const orphan = await adoptBundle(context, streamId, slug, folder);
    if (orphan !== null) return await settle(context, orphan, slug);
    if (stream.drift !== null) throw new EvidenceError('contract', `contract drift: ${stream.drift}`, SERVICE_CHANGED);
    const collection = new Collection(context, run, stream, folder);
    const vendor = await collection.askVendor();
    const received = run.account === null ? await collection.receive() : collection.receiveFrom(await run.account());
    context.listen({ type: 'step', streamId, step: 'examine' });
    const compared = await compareWithPast(context, run, received.reading, folder);
    const examination = await examineReceived(context, run, received, compared, vendor);
    context.listen({ type: 'step', streamId, step: 'bundle' });
    const target = join(folder, 'bundle.zip');
    const { earlier } = compared;
    const contents = { streamId, slug, earlier, received, examination, vendor, custody: collection.custody };
    const { written, verdict } = await packBag(context, run, contents, target);
    context.listen({ type: 'step', streamId, step: 'archive' });
    const form = await toStoredForm(context, { file: target, ...written });
    const bundle: StreamRecord['bundle'] = {
      key: placeOf(context, run, slug, received, examination),
      bytes: form.bytes,
      sha256: form.sha256,
      identity: written.identity,
      ...(form.encrypted === undefined ? {} : { encrypted: form.encrypted }),
    };
    const record: StreamRecord = {
      format: 'evidence-stream-record/1',
      run_id: context.runId,
      ...verdict,
      partial: received.missing.length > 0,
      missing: received.missing,
      bundle,
      recorded_at: context.now().toISOString(),
    };
    return await settle(context, await store(context, record, form.file, slug, folder), slug);
  } catch (error) {
    return toFailure(context, streamId, error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The record of what is stored then: the bundle, or the one that another process was faster to store. */
async function store(
  context: ExportContext,
  record: StreamRecord,
  file: string,
  slug: string,
  folder: string,
): Promise<StreamRecord> {
  const { bundle } = record;
  const isOfRun = bundle.key === bundleKey(context.runId, basename(bundle.key));
  if (bundle.encrypted !== undefined && isOfRun) await announceEncrypted(context, record);
  try {
    const stored = await context.archive.put(bundle.key, { file }, bundle);
    return { ...record, bundle: { ...bundle, ...whereKept(stored) } };
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
    return adoptRival(context, record.stream_id, slug, folder);
  }
}

async function examineReceived(
  context: ExportContext,
  run: RunState,
  received: Received,
  compared: Compared,
  vendor: VendorVerdict | null,
): Promise<Examination> {
  const observations = {
    reading: received.reading,
    summary: await readSummary(context, received),
    pdf: await readPdf(received),
    vendor,
    ...compared,
    period: context.packagePeriod,
    statedHead: received.statedHead,
    restart: describeRestart(run, received.reading.walk.streamId),
    completeness: received.completeness,
    roots: context.roots,
    now: context.now(),
    sealKeysGiven: context.sealKeys.size > 0,
    contract: context.contract,
    contractFile: toContractFile(context.contractFile, 'reader'),
    acceptUnhashed: context.acceptUnhashed ?? [],
  };
  const examination = examine(observations, context.required);
  // A form that is missing leaves the claims about the others as they are, but the stream was not collected.
  const missing = received.missing.length > 0 && examination.status !== 'refuted';
  return missing ? { ...examination, status: 'incomplete' } : examination;
}

async function readSummary(context: ExportContext, { files, missing }: Received): Promise<SummaryFacts | null> {
  const summary = files.find(({ form }) => form === 'summary');
  if (summary === undefined || summary.bytes > MAX_SUMMARY_BYTES) return null;
  if (missing.some(({ form }) => form === 'summary')) return null;
  try {
    return context.contract.readSummary(await readFile(summary.file));
  } catch (error) {
    if (isEvidenceError(error)) return null;
    throw error;
  }
}

async function readPdf({ files, missing }: Received): Promise<PdfReading | null> {
  const pdf = files.find(({ form }) => form === 'pdf');
  if (pdf === undefined || missing.some(({ form }) => form === 'pdf')) return null;
  if (pdf.bytes > MAX_PDF_BYTES) return { unreadable: `it has more than ${MAX_PDF_BYTES} bytes` };
  try {
    return await readPdfFacts(await readFile(pdf.file), AbortSignal.timeout(PDF_WITHIN_MS));
  } catch (error) {
    if (isEvidenceError(error)) return { unreadable: error.message };
    throw error;
  }
}

function placeOf(
  context: ExportContext,
  run: RunState,
  slug: string,
  received: Received,
  examination: Examination,
): string {
  const status = received.missing.length > 0 ? 'PARTIAL' : 'COMPLETE';
  const name = bundleFileName(slug, status, context.recipients !== null);
  if (examination.status === 'incomplete' && !context.sealPartial)
    return `${attemptPrefix(context.runId, run.startedAt)}${name}`;
  return bundleKey(context.runId, name);
}

/** Writes the stream's record, unless the stream is incomplete: then the attempt's record names it. */
async function settle(context: ExportContext, record: StreamRecord, slug: string): Promise<Arrival> {
  const { stream_id: streamId, status, partial, entries, bundle } = record;
  const done = status !== 'incomplete' || context.sealPartial;
  if (done) {
    context.listen({ type: 'step', streamId, step: 'record' });
    await putRecord(context, record, streamRecordKey(context.runId, slug));
  }
  context.listen({ type: 'finished', streamId, status, partial, entries, bytes: bundle.bytes });
  return { kind: done ? 'recorded' : 'incomplete', record };
}

/** Another process that exports the same run may have been the first to record the same bundle. */
async function putRecord(context: ExportContext, record: StreamRecord, key: string): Promise<void> {
  const bytes = toRecordBytes(record);
  try {
    await context.archive.put(key, { bytes }, { sha256: sha256(bytes), bytes: bytes.length });
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
    const theirs = readRecord(streamRecordSchema, await context.archive.readBytes(key, MAX_RECORD_BYTES), key);
    if (theirs.bundle.sha256 !== record.bundle.sha256) throw error;
  }
}

const ENDS_THE_RUN: readonly ErrorCode[] = ['archive', 'conflict', 'store-refused', 'interrupted'];

/** A stream that the service does not give is an exception of the run; what breaks the archive ends the run. */
function toFailure(context: ExportContext, streamId: string, error: unknown): Arrival {
  if (!isEvidenceError(error)) throw error;
  if (ENDS_THE_RUN.includes(error.code)) throw error;
  context.listen({ type: 'failed', streamId, reason: error.message });
  const nextStep = error.nextStep ?? 'Run the same command again to resume.';
  return { kind: 'failed', failure: { stream_id: streamId, reason: error.message, next_step: nextStep } };
}
