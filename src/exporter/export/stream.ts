import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ErrorCode, EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { verifyToken } from '../../core/timestamp/verify.ts';
import { collectedIn, serviceStatementOf, toStatementDocument } from '../../verifier/bundle/known.ts';
import { bundleFileName, slugOf } from '../../verifier/bundle/layout.ts';
import type { Examination } from '../../verifier/claims/claim.ts';
import { toContractFile } from '../../verifier/claims/content.ts';
import { examine } from '../../verifier/claims/examine.ts';
import { type Known, observe, type ReadPdf } from '../../verifier/claims/observe.ts';
import { attemptPrefix, bundleKey, runDraftKey } from '../../verifier/records/keys.ts';
import type { StreamRecord } from '../../verifier/records/record.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { whereKept } from '../records/put-record.ts';
import { type BagContents, type PackedBag, packBag, toTransferLog } from './bag.ts';
import { type ExportContext, pastOf, type RunState, type Runtime } from './context.ts';
import { announceEncrypted, type StoredForm, toStoredForm } from './encrypt.ts';
import { refuseInterleaved } from './interleaved.ts';
import { needsListing } from './listing.ts';
import { readPdfOf, wholeForm } from './package.ts';
import { compareWithPast } from './past.ts';
import type { ListedStream } from './plan.ts';
import { Collection, type Received } from './receive.ts';
import { putStreamRecord, readableStreamRecord } from './records.ts';
import { type Recovered, type StreamOutcome, toFailed } from './stream-jobs.ts';

/**
 * Exports one stream from the service to the archive. Everything that was received is archived, whatever the verdict.
 * The record is written last, so a stream with a record is complete.
 */
export async function exportStream(
  context: ExportContext,
  run: RunState,
  stream: ListedStream,
): Promise<StreamOutcome> {
  const { streamId } = stream;
  const { runtime } = context;
  const folder = join(runtime.workDirectory, slugOf(streamId));
  runtime.listen({ type: 'started', streamId });
  await mkdir(folder, { recursive: true });
  try {
    if (stream.drift !== null)
      throw new EvidenceError('contract', `contract drift: ${stream.drift}`, context.service.client.driftAdvice);
    const contents = await collect(context, run, stream, folder);
    runtime.listen({ type: 'step', streamId, step: 'bundle' });
    const file = join(folder, 'bundle.zip');
    const packed = await packBag(context, run, contents, file);
    runtime.listen({ type: 'step', streamId, step: 'archive' });
    const form = await toStoredForm(context, { file, ...packed.written });
    const record = toStreamRecord(context, stream, contents, packed, form);
    return await commit(context, await store(context, record, form.file), isRefused(context, contents));
  } catch (error) {
    return toFailure(runtime, streamId, error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Receives and examines a stream, and returns the contents of its bundle. */
async function collect(
  context: ExportContext,
  run: RunState,
  stream: ListedStream,
  folder: string,
): Promise<BagContents> {
  const { streamId } = stream;
  const slug = slugOf(streamId);
  const collection = new Collection(context, run, stream, folder);
  const vendor = await collection.askVendor();
  const received = run.account === null ? await collection.receive() : collection.receiveFrom(await run.account());
  const { client, packagePeriod } = context.service;
  await refuseInterleaved(client, packagePeriod, received.reading);
  const unfetched = await collection.askUnfetched(received.reading);
  const log = toTransferLog(context, run, streamId, collection.transferLog);
  context.runtime.listen({ type: 'step', streamId, step: 'examine' });
  const pdf = await readPdfOf(context, received);
  const known: Known = {
    vendor,
    ...(await compareWithPast(context, run, received.reading, folder)),
    period: packagePeriod,
    statement: collection.statement,
    unfetched,
    statedCount: received.statedCount,
    secrets: { found_in: pdf.withKey, accepted: context.acceptsSecrets },
    restarts: pastOf(run, streamId).restarts,
    completeness: received.completeness,
  };
  const examination = await examineReceived(context, received, known, pdf.read);
  const place = placeOf(context, run, slug, received, examination);
  return { streamId, slug, streamRecord: stream.record, known, received, examination, log, place };
}

function toStreamRecord(
  { question, runtime }: ExportContext,
  stream: ListedStream,
  { received, known, log, place }: BagContents,
  { written, verdict }: PackedBag,
  form: StoredForm,
): Unbound<StreamRecord> {
  return {
    format: FORMATS.stream,
    run_id: question.run_id,
    ...verdict,
    partial: received.missing.length > 0,
    missing: received.missing,
    collected: collectedIn(log),
    service: serviceStatementOf(known, toStatementDocument(stream)),
    bundle: {
      key: place,
      bytes: form.bytes,
      sha256: form.sha256,
      identity: written.identity,
      ...(form.encrypted === undefined ? {} : { encrypted: form.encrypted }),
    },
    recorded_at: runtime.now().toISOString(),
  };
}

/** Archived stream: received here, or recovered from a bundle that another process stored first. */
interface Archived {
  record: Unbound<StreamRecord>;
  recovered: Recovered | null;
}

async function store(context: ExportContext, record: Unbound<StreamRecord>, file: string): Promise<Archived> {
  const { archive, question } = context;
  const { run_id: runId } = question;
  const { bundle } = record;
  const isOfRun = bundle.key === bundleKey(runId, basename(bundle.key));
  readableStreamRecord(context, record);
  // A frozen run lists all its objects, so nothing may be added.
  if (!isOfRun && (await archive.stat(runDraftKey(runId))) !== null) throw finishedElsewhere(runId);
  if (bundle.encrypted !== undefined && isOfRun) {
    if ((await archive.stat(bundle.key)) !== null) return recoverConcurrent(context, bundle.key);
    await announceEncrypted(context, record);
  }
  try {
    const stored = await archive.put(bundle.key, { file }, bundle);
    return { record: { ...record, bundle: { ...bundle, ...whereKept(stored) } }, recovered: null };
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
    return recoverConcurrent(context, bundle.key);
  }
}

async function recoverConcurrent(context: ExportContext, key: string): Promise<Archived> {
  const { recoverBundle } = await import('./recover.ts');
  const recovered = await recoverBundle(context, key);
  return { record: recovered.record, recovered };
}

/** Returns the error for a stream of a run that another process has frozen. */
export function finishedElsewhere(runId: string): EvidenceError {
  return new EvidenceError('service', `another export has finished run ${runId}`, {
    nextStep: 'Nothing needs to be done; see the output of that export for this stream.',
  });
}

async function examineReceived(
  context: ExportContext,
  received: Received,
  known: Known,
  readPdf: ReadPdf,
): Promise<Examination> {
  const forms = {
    summary: wholeForm(received, 'summary'),
    pdf: wholeForm(received, 'pdf'),
    isShort: received.missing.length > 0,
    isAltered: false,
  };
  const { question, service, trust, runtime } = context;
  const { accepted_unhashed: acceptUnhashed, required_claims: required } = question.scope;
  const observations = await observe(received.reading, forms, known, {
    contract: service.contract,
    contractFile: toContractFile(service.contractFile, 'reader'),
    acceptUnhashed,
    ...trust,
    now: runtime.now(),
    readPdf,
    verifyToken,
  });
  return examine(observations, required);
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
  if (examination.status === 'incomplete' && !context.finalizePartial)
    return `${attemptPrefix(context.question.run_id, run.start.at)}${name}`;
  return bundleKey(context.question.run_id, name);
}

/** Reports whether the missing parts of a stream are exactly those that the API key may not access. */
function isRefused({ question }: ExportContext, { received, known }: BagContents): boolean {
  const { missing, isListingRefused } = received;
  if (missing.length > 0) return missing.every(({ code }) => code === 'refused');
  return isListingRefused && needsListing(question.scope, known.period);
}

/** Writes the stream's record, unless the stream is incomplete; the attempt's record then lists it. */
async function commit(
  context: ExportContext,
  { record, recovered }: Archived,
  isRefusedStream: boolean,
): Promise<StreamOutcome> {
  const { stream_id: streamId, status, partial, entries, bundle } = record;
  const done = status !== 'incomplete' || context.finalizePartial;
  let outcome: StreamOutcome = { kind: 'incomplete', record, recovered, isRefused: isRefusedStream };
  if (done) {
    context.runtime.listen({ type: 'step', streamId, step: 'record' });
    outcome = { kind: 'recorded', stored: await putStreamRecord(context, record), recovered };
  }
  context.runtime.listen({ type: 'finished', streamId, status, partial, entries, bytes: bundle.bytes });
  return outcome;
}

const ENDS_THE_RUN: readonly ErrorCode[] = ['archive', 'conflict', 'store-refused', 'interrupted'];

/** Turns the failure of a single stream into its outcome. Failures of the archive, and interruptions, end the run. */
function toFailure({ listen }: Runtime, streamId: string, error: unknown): StreamOutcome {
  if (!isEvidenceError(error)) throw error;
  if (ENDS_THE_RUN.includes(error.code)) throw error;
  listen({ type: 'failed', streamId, reason: error.message });
  return toFailed(streamId, error);
}
