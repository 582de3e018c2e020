import { type ErrorCode, sayNextStep } from '../../core/errors.ts';
import type { QueueDatabase } from './database.ts';
import {
  type Conclusion,
  conclusionSchema,
  readKept,
  readListed,
  readOutcome,
  type TaskFailure,
  taskFailureSchema,
} from './tasks.ts';

/** Maximum number of streams read with their reasons; counts cover all streams. */
const TROUBLES = 1000;
/** Silence after which a worker that holds nothing is no longer shown. */
const FORGOTTEN = `interval '10 minutes'`;
/** Window over which the rate is measured. */
const WINDOW_SECONDS = 60;

/** Progress of a distributed run. */
// Over ten members: it is all that `evidence status` shows of a run.
export interface RunProgress {
  runId: string;
  startedAt: Date;
  state: 'exporting' | 'concluding' | 'ended';
  endedAt: Date | null;
  streams: number;
  excluded: number;
  recorded: number;
  incomplete: number;
  failed: number;
  /** Streams that ended per second, over the last minute. */
  perSecond: number;
  /** Estimated time left; null if nothing ended in the last minute, or nothing is left. */
  secondsLeft: number | null;
  workers: WorkerProgress[];
  /** Result of the run; null until the run has ended, and if it could not be concluded. */
  conclusion: Conclusion | null;
  failure: ShownFailure | null;
}

export interface WorkerProgress {
  name: string;
  /** Seconds since the last heartbeat; null if the worker never reported. */
  secondsSilent: number | null;
  streams: { streamId: string; seconds: number; tries: number }[];
  concludes: boolean;
}

interface ShownFailure extends Omit<TaskFailure, 'next_step'> {
  next_step: string | null;
}

/** Stream that failed or ended incomplete, or that was given back and waits for another try. */
export interface StreamTrouble {
  streamId: string;
  state: 'failed' | 'incomplete' | 'tried again';
  /** Null where it was received in part. */
  code: ErrorCode | null;
  reason: string;
  nextStep: string;
}

interface RunRow {
  run_id: string;
  started_at: Date;
  state: RunProgress['state'];
  ended_at: Date | null;
  streams: number;
  excluded: number;
  worker: string | null;
  result: string | null;
  failure: string | null;
}

type Reader = Pick<QueueDatabase, 'query' | 'schema'>;

/** Returns the ids of the runs that were handed out, active runs first. */
export async function listRuns({ query, schema }: Reader): Promise<string[]> {
  const rows = await query<{ run_id: string }>(
    `SELECT run_id FROM ${schema}.runs ORDER BY state = 'ended', started_at DESC, run_id LIMIT 1000`,
  );
  return rows.map(({ run_id }) => run_id);
}

/** @returns null for a run that was not handed out. */
export async function readProgress(db: Reader, runId: string): Promise<RunProgress | null> {
  const [run] = await db.query<RunRow>(
    `SELECT run_id, started_at, state, ended_at, streams, excluded, worker, result, failure FROM ${db.schema}.runs WHERE run_id = $1`,
    [runId],
  );
  if (run === undefined) return null;
  const counts = await readCounts(db, runId);
  const ended = counts.recorded + counts.incomplete + counts.failed;
  const perSecond = counts.lately / Math.max(1, Math.min(WINDOW_SECONDS, counts.seconds));
  const left = run.streams - ended;
  return {
    runId,
    startedAt: run.started_at,
    state: run.state,
    endedAt: run.ended_at,
    streams: run.streams,
    excluded: run.excluded,
    recorded: counts.recorded,
    incomplete: counts.incomplete,
    failed: counts.failed,
    perSecond,
    secondsLeft: left > 0 && perSecond > 0 ? Math.ceil(left / perSecond) : null,
    workers: await readWorkers(db, run),
    conclusion: run.result === null ? null : readKept(conclusionSchema, run.result),
    failure: run.failure === null ? null : readFailure(run.failure),
  };
}

interface Counts extends Record<'recorded' | 'incomplete' | 'failed' | 'lately' | 'seconds', number> {}

async function readCounts({ query, schema }: Reader, runId: string): Promise<Counts> {
  const [counts] = await query<Counts>(
    `SELECT count(*) FILTER (WHERE kind = 'recorded')::int AS recorded,
       count(*) FILTER (WHERE kind = 'incomplete')::int AS incomplete,
       count(*) FILTER (WHERE kind = 'failed')::int AS failed,
       count(*) FILTER (WHERE ended_at > now() - $2 * interval '1 second')::int AS lately,
       coalesce(extract(epoch FROM now() - min(taken_at)), 0)::float8 AS seconds
     FROM ${schema}.streams WHERE run_id = $1`,
    [runId, WINDOW_SECONDS],
  );
  return counts ?? { recorded: 0, incomplete: 0, failed: 0, lately: 0, seconds: 0 };
}

async function readWorkers({ query, schema }: Reader, run: RunRow): Promise<WorkerProgress[]> {
  const rows = await query<{
    name: string;
    silent: number | null;
    listed: string | null;
    seconds: number;
    tries: number;
  }>(
    `SELECT coalesce(w.name, s.worker) AS name, extract(epoch FROM now() - w.seen_at)::float8 AS silent,
       s.listed, extract(epoch FROM now() - s.taken_at)::float8 AS seconds, s.tries
     FROM (SELECT * FROM ${schema}.workers WHERE seen_at > now() - ${FORGOTTEN}) AS w
     FULL JOIN (SELECT * FROM ${schema}.streams WHERE run_id = $1 AND kind IS NULL AND worker IS NOT NULL) AS s
       ON s.worker = w.name
     ORDER BY 1, s.taken_at, s.slug`,
    [run.run_id],
  );
  const concluding = run.state === 'concluding' ? run.worker : null;
  return [...Map.groupBy(rows, ({ name }) => name)].map(([name, held]) => ({
    name,
    secondsSilent: held[0]?.silent ?? null,
    streams: held.flatMap(({ listed, seconds, tries }) =>
      listed === null ? [] : [{ streamId: readListed(listed).streamId, seconds, tries }],
    ),
    concludes: name === concluding,
  }));
}

/** Returns the streams of a run that have had trouble so far, by slug; at most 1,000. */
export async function readTroubles({ query, schema }: Reader, runId: string): Promise<StreamTrouble[]> {
  const rows = await query<{ listed: string; outcome: string | null; failure: string | null }>(
    `SELECT listed, outcome, failure FROM ${schema}.streams
     WHERE run_id = $1 AND (kind IN ('failed', 'incomplete') OR (kind IS NULL AND worker IS NULL AND failure IS NOT NULL)) ORDER BY slug LIMIT ${TROUBLES}`,
    [runId],
  );
  return rows.flatMap(({ listed, outcome, failure }) => toTrouble(readListed(listed).streamId, outcome, failure) ?? []);
}

function readFailure(text: string): ShownFailure {
  const { next_step, ...failure } = readKept(taskFailureSchema, text);
  return { ...failure, next_step: next_step === null ? null : sayNextStep(next_step) };
}

function toTrouble(streamId: string, outcomeText: string | null, failureText: string | null): StreamTrouble | null {
  if (outcomeText === null) {
    const { code, reason, next_step } = readFailure(failureText ?? 'null');
    return { streamId, state: 'tried again', code, reason, nextStep: next_step ?? '' };
  }
  const outcome = readOutcome(outcomeText);
  if (outcome?.kind === 'failed') {
    const { code, reason, next_step } = outcome.failure;
    return { streamId, state: 'failed', code, reason, nextStep: sayNextStep(next_step) };
  }
  if (outcome?.kind !== 'incomplete') return null;
  const { missing, status } = outcome.record;
  const reason =
    missing.length === 0
      ? `its claims are ${status}`
      : missing.map(({ form, reason }) => `the ${form} form: ${reason}`).join('; ');
  return { streamId, state: 'incomplete', code: null, reason, nextStep: '' };
}
