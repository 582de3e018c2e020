import { FORMATS } from '../../core/formats.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import type { EarlierRuns } from '../../verifier/ledger/earlier-runs.ts';
import { ATTEMPT } from '../../verifier/records/attempt.ts';
import { attemptFileOf } from '../../verifier/records/keys.ts';
import { EXIT_CODE_OF } from '../../verifier/records/outcome.ts';
import type { Reconciliation, RunRecord, RunStream, RunWarning, StreamRecord } from '../../verifier/records/record.ts';
import { readRecord } from '../../verifier/records/record-bytes.ts';
import { countRunStreams, disagreementsIn, toRunOutcome } from '../../verifier/records/run-algebra.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { countSupplements, type RunSupplements } from '../../verifier/records/supplements.ts';
import { type ClockReading, describeSkew } from '../clocks.ts';
import { isBoundRecord } from './binding.ts';
import { type ExportContext, type RunState, sayStepOf } from './context.ts';
import { findEnded, findUnlisted, findVanished, type StreamSelection } from './plan.ts';
import type { StreamJobs } from './stream-jobs.ts';

/** Further facts for a run record. */
interface Besides {
  earlier: EarlierRuns;
  /** Limitations of the archive. */
  limitations: readonly RunWarning[];
  supplements: RunSupplements | null;
}

/** Returns the record of a run without its documents and leftovers. */
// Over 40 lines: it is the document run.json.
export function toRunRecord(
  context: ExportContext,
  run: RunState,
  jobs: StreamJobs,
  { earlier, limitations, supplements }: Besides,
): RunRecord {
  const { question, service, maker, signing } = context;
  const finishedAt = context.runtime.now().toISOString();
  const { streams, excluded, vanished, ended } = toStreams(context, run, jobs);
  const failed = jobs.failed.map(({ next_step, ...failure }) => {
    return { ...failure, next_step: sayStepOf(context, next_step) };
  });
  const parts = { streams, excluded, vanished, failed };
  const outcome = toRunOutcome(parts, supplements);
  const record: RunRecord = {
    format: FORMATS.run,
    run_id: question.run_id,
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    scope: question.scope,
    period: question.period,
    supersedes: [...context.supersedes],
    package_period: service.packagePeriod,
    source: toSource(context, run),
    tool: { ...maker.tool, commit: maker.commit },
    operator: maker.operator,
    begun_at: run.beginning.at.toISOString(),
    begun_at_by_service: run.beginning.byService?.toISOString() ?? null,
    started_at: run.start.at.toISOString(),
    finished_at: finishedAt,
    attempts: listAttempts(run, streams, finishedAt),
    stream_list: jobs.selection.list,
    streams,
    excluded,
    failed,
    vanished,
    ended,
    acceptances: [...run.acceptances],
    reconciliation: {
      ...reconcile(parts, jobs.selection),
      supplements: countSupplements(supplements),
    },
    supplements,
    warnings: [
      ...warningsOf(context, run, jobs),
      ...limitations,
      ...(earlier.warning === null ? [] : [earlier.warning]),
    ],
    signed: signing.signingKey !== null,
    timestamp_authority: signing.stamping?.authority.shown ?? null,
    report: maker.report,
    earlier_runs: earlier.runs,
    recovered: jobs.recovered.length,
    left_over: [],
    documents: [],
    binding: null,
  };
  const grown = disagreementsIn(record).filter(({ kind }) => kind === 'grown');
  for (const { stream_id, message } of grown)
    record.warnings.push({ code: 'grown', message: `the stream "${stream_id}": ${message}` });
  return record;
}

function toSource({ question, service }: ExportContext, { movedFrom }: RunState): RunRecord['source'] {
  const { name, fields } = service.contract;
  return {
    audit_url: question.source.audit_url,
    contract: name,
    contract_sha256: question.source.contract_sha256,
    time_fields: { recorded: fields.timestamp, occurred: fields.occurred_at ?? null },
    moved_from: movedFrom,
    requests: service.client.operations(question.period, question.scope.completeness === 'listing'),
  };
}

/** Returns the streams that the run has, and those that it lacks. */
function toStreams(
  { question: { run_id, scope } }: ExportContext,
  run: RunState,
  { selection, recorded, incomplete }: StreamJobs,
): Pick<RunRecord, 'streams' | 'excluded' | 'vanished' | 'ended'> {
  const streams = new RowsBuilder<RunStream>();
  for (const { record, ...stored } of recorded) streams.push({ ...withinRun(record), record: stored });
  for (const record of incomplete) streams.push({ ...withinRun(record), record: null });
  const all = streams.finish();
  const gone = findVanished(selection, scope, run.heads, run.past.spans);
  const ended = findEnded(selection, scope, run.restarts, run.heads);
  // A stream that an earlier attempt exported stays in the run, even if this attempt would have excluded it.
  const left = new Set([selection.excluded, gone, ended].flatMap((some) => some.map(({ stream_id }) => stream_id)));
  for (const { record } of recorded) left.delete(record.stream_id);
  const isLeft = ({ stream_id }: { stream_id: string }) => left.has(stream_id);
  return {
    streams: all,
    excluded: selection.excluded.filter(isLeft),
    vanished: [...gone.filter(isLeft), ...findUnlisted(selection, run_id, all)],
    ended: ended.filter(isLeft),
  };
}

function warningsOf(
  { question: { period }, supersedes, service: { packagePeriod }, signing: { signingKey } }: ExportContext,
  { start: { clock }, ledger: { newest } }: RunState,
  { recovered }: StreamJobs,
): RunWarning[] {
  const warnings = clock === null ? [] : warnOfSkew(clock);
  const warn = (code: RunWarning['code'], message: string) => warnings.push({ code, message });
  if (signingKey !== null && newest !== null && newest.entry.signature === undefined)
    warn('unsigned-before', `runs before entry ${newest.entry.number + 1} of the ledger were not signed`);
  if (supersedes.length > 0) warn('replaces', `this run replaces: ${supersedes.join(', ')}`);
  if (period.from !== packagePeriod.from || period.to !== packagePeriod.to)
    warn('whole-streams', 'the service cannot select a period; every package contains its whole stream');
  const unread = recovered.filter((stream) => stream.unread).map(({ streamId }) => streamId);
  for (const streamId of unread.sort())
    warn(
      'recovered-unread',
      `the encrypted bundle of the stream "${streamId}" was recovered: its claims are as recorded by the interrupted attempt`,
    );
  return warnings;
}

/**
 * Returns a warning if the clocks differ: the service's clock dates entries and the period, this machine's clock the
 * export's own records.
 */
function warnOfSkew(clock: ClockReading): RunWarning[] {
  const skew = describeSkew(clock);
  if (skew === null) return [];
  const [ours, theirs] = [clock.ours, clock.theirs].map((time) => time.toISOString());
  const message = `the clock of this machine was ${skew} that of the service: ${ours} here, ${theirs} there`;
  return [{ code: 'clock-skew', message }];
}

/** Returns a stream's record without the members that the run or attempt already states. */
export function withinRun({ format: _format, run_id: _run, recorded_at: _at, ...stream }: Unbound<StreamRecord>) {
  return stream;
}

/**
 * Counts the streams of a run and compares the total with the listed streams. A stream that is not accounted for is a
 * defect.
 */
function reconcile(
  run: Pick<RunRecord, 'streams' | 'failed' | 'excluded' | 'vanished'>,
  { included }: StreamSelection,
): Reconciliation {
  const gone = new Set(run.vanished.map(({ stream_id }) => stream_id));
  const listed = new Set([
    ...included.map((stream) => stream.streamId),
    ...run.excluded.map((exclusion) => exclusion.stream_id),
    ...run.streams.map((stream) => stream.stream_id).filter((streamId) => !gone.has(streamId)),
  ]).size;
  const counts = countRunStreams(run);
  if (listed !== counts.listed) throw new Error(`${listed} streams are listed, but ${counts.listed} accounted for`);
  return counts;
}

type Attempt = RunRecord['attempts'][number];

/**
 * Reads the attempts at this run that recorded an incomplete end. Records that are not bound to this run are ignored.
 */
export async function readAttempts(
  { archive, binding }: Pick<ExportContext, 'archive' | 'binding'>,
  objects: Rows<StoredObject>,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const { key } of objects) {
    if (attemptFileOf(key) !== 'attempt.json') continue;
    const bytes = await archive.readBytes(key, ATTEMPT.maxBytes);
    if (!isBoundRecord(binding.key, bytes)) continue;
    const { started_at, ended_at } = readRecord(ATTEMPT, bytes, key);
    attempts.push({ started_at, ended_at });
  }
  return attempts;
}

/**
 * Lists all attempts at the run, oldest first: this one, attempts that recorded their end, and interrupted attempts
 * that are only known from the streams that they received.
 */
function listAttempts(
  { start, attempts }: Pick<RunState, 'start' | 'attempts'>,
  streams: Rows<Pick<RunStream, 'collected'>>,
  finishedAt: string,
): Attempt[] {
  const ends = new Map<string, string | null>(
    streams.map(({ collected }) => [collected.export_started_at, null] as const),
  );
  for (const { started_at, ended_at } of attempts) ends.set(started_at, ended_at);
  ends.set(start.at.toISOString(), finishedAt);
  return [...ends]
    .map(([started_at, ended_at]) => ({ started_at, ended_at }))
    .sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
}
