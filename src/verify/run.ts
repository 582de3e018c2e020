import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive } from '../archive/archive.ts';
import { inParallel } from '../archive/parallel.ts';
import { bundleFileName, slugOf } from '../bundle/layout.ts';
import type { Verdict } from '../claims/verdict.ts';
import { StreamingSha256, sha256 } from '../encoding/digest.ts';
import type { Identities } from '../encryption/identities.ts';
import { isEvidenceError } from '../errors.ts';
import { bundleKey, documentKey, runRecordKey, streamRecordKey } from '../ledger/keys.ts';
import { type Outcome, worstOf } from '../ledger/outcome.ts';
import {
  type RunDocument,
  type RunRecord,
  type RunStream,
  readRecord,
  runRecordSchema,
  streamRecordSchema,
  toRecordBytes,
} from '../ledger/record.ts';
import { type VerifiedBundle, type VerifyOptions, verifyBundle } from './bundle.ts';
import { type Problem, toProblem } from './problem.ts';
import { checkDigest, fetchBundle, isAttested, isThere } from './stored.ts';
import { verifyWitnesses, type WitnessCheck, type WitnessContext } from './witnesses.ts';

export interface RunCheck {
  runId: string;
  outcome: Outcome;
  /** Null when it cannot be read. */
  record: RunRecord | null;
  sha256: string | null;
  /** Our own verdicts, made now. */
  streams: VerifiedStream[];
  /** Null when the record cannot be read. */
  witnesses: WitnessCheck | null;
  problems: Problem[];
  /** The objects that the run record vouches for, and those that vouch for it. */
  accounted: Set<string>;
}

export interface VerifiedStream {
  /** Ours, made now; of an attested bundle, and of one that was not decrypted, the recorded one. */
  verdict: Verdict;
  /** The bundle was not read: the store attests that it is what was recorded. */
  attested: boolean;
  /** The bundle is what was recorded, but encrypted, and was not decrypted here: the verdict is the recorded one. */
  encrypted: boolean;
  bundle: RunStream['bundle'];
}

export interface RunContext extends VerifyOptions, WitnessContext {
  /** Where bundles of a remote archive are put for as long as they are read. */
  workDirectory: string;
  /** Whether a bundle need not be read whose digest the store itself attests. */
  fast?: boolean;
  /** To decrypt bundles with; null where there are none. */
  identities?: Identities | null;
  /** How many streams at once; 1 unless told. */
  concurrency?: number;
  /** The head that a run left in the ledger for a stream; undefined when it left none. */
  headOf(runId: string, streamId: string): { sequence: number; hash: string } | undefined;
  onStream?(streamId: string): void;
}

const MAX_RECORD_BYTES = 2 ** 30;

/** Verifies a sealed run: its record, every stream's record and bundle, every claim anew. */
export async function verifyRun(context: RunContext, runId: string): Promise<RunCheck> {
  const key = runRecordKey(runId);
  const check: RunCheck = {
    runId,
    outcome: 'refuted',
    record: null,
    sha256: null,
    streams: [],
    witnesses: null,
    problems: [],
    accounted: new Set([key]),
  };
  const bytes = await context.archive.readBytes(key, MAX_RECORD_BYTES);
  check.sha256 = sha256(bytes);
  try {
    check.record = readRecord(runRecordSchema, bytes, key);
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    check.problems.push(toProblem('object/unreadable', key, error.message));
    return check;
  }
  check.problems.push(...checkRecord(check.record, runId, key));
  await verifyStreams(context, check, check.record);
  check.problems.push(...checkVanished(context, check.record, key));
  for (const document of check.record.documents) {
    check.accounted.add(document.key);
    await verifyDocument(context.archive, check.record, document, check.problems);
  }
  check.witnesses = await verifyWitnesses(context, check.record, check.sha256);
  check.problems.push(...check.witnesses.problems);
  for (const witness of check.witnesses.keys) check.accounted.add(witness);
  const statuses = check.streams.map(({ verdict }) => verdict.status);
  const unstamped = check.witnesses.unstamped ? ['incomplete' as const] : [];
  const outcome = worstOf([...statuses, check.record.outcome, ...unstamped]);
  check.outcome = check.problems.length > 0 ? 'refuted' : outcome;
  return check;
}

/** Several at once, so that the next ones arrive while one is looked at; found and reported in the order of the record. */
async function verifyStreams(context: RunContext, check: RunCheck, record: RunRecord): Promise<void> {
  const found = record.streams.map((): { problems: Problem[]; verified: VerifiedStream | null } => ({
    problems: [],
    verified: null,
  }));
  await inParallel([...record.streams.entries()], context.concurrency ?? 1, async ([index, stream]) => {
    context.onStream?.(stream.stream_id);
    const place = found[index];
    if (place !== undefined) place.verified = await verifyStream(context, record, stream, place.problems);
  });
  for (const [index, { bundle, record: stored }] of record.streams.entries()) {
    check.accounted.add(bundle.key);
    if (stored !== null) check.accounted.add(stored.key);
    const { problems, verified } = found[index] ?? { problems: [], verified: null };
    check.problems.push(...problems);
    if (verified !== null) check.streams.push(verified);
  }
}

function checkRecord(record: RunRecord, runId: string, key: string): Problem[] {
  const problems: Problem[] = [];
  const { listed, exported, partial, failed, empty, excluded } = record.reconciliation;
  if (record.run_id !== runId) problems.push(toProblem('record/differs', key, `is the record of run ${record.run_id}`));
  if (listed !== exported + partial + failed + empty + excluded)
    problems.push(toProblem('record/differs', key, 'its reconciliation does not add up'));
  if (exported + partial + empty !== record.streams.length)
    problems.push(toProblem('record/differs', key, 'its reconciliation does not count its streams'));
  return problems;
}

/** A stream can only be missed that an earlier run had seen. */
function checkVanished(context: RunContext, record: RunRecord, key: string): Problem[] {
  return record.vanished
    .filter(({ run_id, stream_id, sequence, hash }) => {
      const head = context.headOf(run_id, stream_id);
      return head?.sequence !== sequence || head.hash !== hash;
    })
    .map(({ stream_id }) =>
      toProblem('record/differs', key, `misses the stream "${stream_id}" by a head that the ledger does not have`),
    );
}

async function verifyStream(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  problems: Problem[],
): Promise<VerifiedStream | null> {
  const { bundle } = stream;
  checkPlaces(run, stream, problems);
  if (stream.record !== null) await verifyStreamRecord(context, run, stream, stream.record, problems);
  if (context.fast === true && (await isAttested(context.archive, bundle)))
    return { verdict: statedVerdict(stream), bundle, attested: true, encrypted: false };
  // What is fetched from afar goes when it was looked at: an archive may be larger than the disk.
  const folder = await mkdtemp(join(context.workDirectory, 'bundle-'));
  try {
    const file = await fetchBundle(context, bundle, folder, problems);
    if (file === 'gone') return null;
    if (file === 'encrypted') return { verdict: statedVerdict(stream), bundle, attested: false, encrypted: true };
    const verified = await verifyBundle(file, bundle.key, context);
    problems.push(...verified.problems);
    const verdict = compareRecorded(context, run, stream, verified, problems);
    return verdict === null ? null : { verdict, bundle, attested: false, encrypted: false };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a run record states of a stream, without where it lies. */
function statedVerdict({
  bundle: _bundle,
  record: _record,
  partial: _partial,
  missing: _missing,
  ...stated
}: RunStream) {
  return stated;
}

/** The verdict made now, once it was held against what the run recorded. */
function compareRecorded(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  verified: VerifiedBundle,
  problems: Problem[],
): Verdict | null {
  const { bundle } = stream;
  const stated = statedVerdict(stream);
  const differ = (what: string) =>
    problems.push(
      toProblem(
        'record/differs',
        runRecordKey(run.run_id),
        `its ${what} of "${stream.stream_id}" differs from the bundle's`,
      ),
    );
  if (verified.identity !== bundle.identity) differ('bundle identity');
  if (verified.runId !== null && verified.runId !== run.run_id) differ('run id');
  if (verified.recorded !== null && verified.contractSha256 !== run.source.contract_sha256) differ('contract');
  if (verified.recorded !== null && !sameRecord(verified.recorded, stated)) differ('verdict');
  const { earlierHead } = verified;
  if (earlierHead !== null) {
    const known = context.headOf(earlierHead.runId, stream.stream_id);
    if (known?.sequence !== earlierHead.sequence || known.hash !== earlierHead.digest)
      problems.push(
        toProblem(
          'verdict/differs',
          bundle.key,
          `continues from a head of run ${earlierHead.runId} that the ledger does not have`,
        ),
      );
  }
  return worse(verified.verdict, stated.status);
}

/**
 * A report must be the one that the record names. It is not made anew to be compared: another version of this program
 * may set it otherwise, and the record's digest says what it was.
 */
async function verifyDocument(
  archive: Archive,
  run: RunRecord,
  document: RunDocument,
  problems: Problem[],
): Promise<void> {
  if (document.key !== documentKey(run.run_id, document.name))
    problems.push(
      toProblem('record/differs', runRecordKey(run.run_id), `puts ${document.name} where it does not belong`),
    );
  if (!(await isThere(archive, document.key, problems))) return;
  const digest = new StreamingSha256();
  for await (const chunk of await archive.read(document.key)) digest.update(chunk);
  checkDigest(document, digest.finish(), problems);
}

/** Where a run puts a stream's objects follows from the stream's id. */
function checkPlaces(run: RunRecord, { stream_id, partial, bundle, record }: RunStream, problems: Problem[]): void {
  const slug = slugOf(stream_id);
  const expected = bundleKey(
    run.run_id,
    bundleFileName(slug, partial ? 'PARTIAL' : 'COMPLETE', bundle.encrypted !== undefined),
  );
  const wrong = bundle.key !== expected || (record !== null && record.key !== streamRecordKey(run.run_id, slug));
  if (wrong)
    problems.push(
      toProblem('record/differs', runRecordKey(run.run_id), `puts the stream "${stream_id}" where it does not belong`),
    );
}

async function verifyStreamRecord(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  stored: NonNullable<RunStream['record']>,
  problems: Problem[],
): Promise<void> {
  if (!(await isThere(context.archive, stored.key, problems))) return;
  const bytes = await context.archive.readBytes(stored.key, MAX_RECORD_BYTES);
  checkDigest(stored, { sha256: sha256(bytes), bytes: bytes.length }, problems);
  try {
    const { format: _format, run_id, recorded_at: _at, ...record } = readRecord(streamRecordSchema, bytes, stored.key);
    const { record: _stored, ...stated } = stream;
    if (run_id !== run.run_id || !sameRecord(record, stated))
      problems.push(toProblem('record/differs', stored.key, 'says something else than the run record'));
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    problems.push(toProblem('object/unreadable', stored.key, error.message));
  }
}

function sameRecord(a: unknown, b: unknown): boolean {
  return Buffer.from(toRecordBytes(sorted(a))).equals(toRecordBytes(sorted(b)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What was refuted when the seal keys were at hand is not verified because they are not. */
function worse(verdict: Verdict | null, recorded: Verdict['status']): Verdict | null {
  if (verdict === null || recorded !== 'refuted') return verdict;
  return { ...verdict, status: 'refuted' };
}
