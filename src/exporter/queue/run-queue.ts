// Over 250 lines: every statement that changes the tables of the queue.

import { inBatches } from '../../core/rows/rows.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import type { Plan } from '../export/handed-out.ts';
import type { ListedStream } from '../export/plan.ts';
import type { StreamOutcome } from '../export/stream-jobs.ts';
import type { QueueDatabase, RunStatement } from './database.ts';
import { type HeldJob, Jobs, TRIES } from './jobs.ts';
import { tablesOf } from './tables.ts';
import {
  type Conclusion,
  listedText,
  optionsSchema,
  outcomeText,
  type RunOptions,
  readKept,
  readListed,
  type Task,
  type TaskFailure,
  taskFailureSchema,
} from './tasks.ts';

/** Retention of finished runs in the database. */
const KEPT = `interval '30 days'`;
/** Number of streams that are inserted at a time. */
const BATCH = 500;

/** Attempt at a run that was handed out to workers. */
export interface HandedRun {
  runId: string;
  startedAt: Date;
  options: RunOptions;
}

/** Conclusion of a run, held by a worker. */
export interface HeldConclusion extends HandedRun {
  job: HeldJob;
}

/** Stream held by a worker. */
export interface HeldStream extends HeldConclusion {
  stream: ListedStream;
  /** True if another attempt or worker may have left something of the stream. */
  mayBeLeft: boolean;
}

/** Queue of distributed runs. */
// Over ten members: each is one step of a worker, or of the command that hands a run out.
export class RunQueue {
  readonly #db: QueueDatabase;
  readonly #jobs: Jobs;

  private constructor(db: QueueDatabase, jobs: Jobs) {
    this.#db = db;
    this.#jobs = jobs;
  }

  /**
   * Opens the queue and creates its tables if necessary.
   * @param options.supervises true if this process looks for jobs of dead workers.
   * @throws EvidenceError `config`, `unreachable`.
   */
  static async open(db: QueueDatabase, options: { supervises: boolean }): Promise<RunQueue> {
    await db.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock(hashtext($1))', [`evidence ${db.schema}`]);
      await query(tablesOf(db.schema));
    });
    return new RunQueue(db, await Jobs.open(db, options));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#jobs.close();
  }

  /**
   * Hands out the streams of a run to workers, all or none.
   * @returns false if an attempt at the run is active, which is left unchanged.
   */
  handOut(
    { runId, options }: Omit<HandedRun, 'startedAt'>,
    { startedAt, streams, excluded, left }: Plan,
  ): Promise<boolean> {
    const { schema } = this.#db;
    return this.#db.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock(hashtext($1))', [`evidence ${schema} ${runId}`]);
      const under = await query(`SELECT 1 FROM ${schema}.runs WHERE run_id = $1 AND state <> 'ended'`, [runId]);
      if (under.length > 0) return false;
      await query(`DELETE FROM ${schema}.runs WHERE run_id = $1 OR ended_at < now() - ${KEPT}`, [runId]);
      await query(`DELETE FROM ${schema}.workers WHERE seen_at < now() - ${KEPT}`);
      await query(
        `INSERT INTO ${schema}.runs (run_id, started_at, options, streams, excluded, open, state)
         VALUES ($1, $2, $3, $4, $5, $4, 'exporting')`,
        [runId, startedAt, JSON.stringify(options), streams.length, excluded],
      );
      for (const some of inBatches(streams, BATCH)) {
        const slugs = some.map(({ streamId }) => slugOf(streamId));
        await query(
          `INSERT INTO ${schema}.streams (run_id, slug, listed, is_left)
           SELECT $1, * FROM unnest($2::text[], $3::text[], $4::boolean[])`,
          [runId, slugs, some.map(listedText), slugs.map((slug) => left.has(slug))],
        );
        const tasks = slugs.map((slug) => toTask(runId, startedAt, slug));
        await this.#jobs.add('streams', tasks, query);
      }
      return true;
    });
  }

  /** Takes a stream that no worker holds; null if there is none. */
  async takeStream(worker: string): Promise<HeldStream | null> {
    const { schema } = this.#db;
    for (;;) {
      const job = await this.#jobs.take('streams');
      if (job === null) return null;
      const { run_id: runId, started_at, slug } = job.task;
      const [row] = await this.#db.query<{ listed: string; may_be_left: boolean; options: string }>(
        `UPDATE ${schema}.streams AS s SET worker = $4, taken_at = now(), tries = s.tries + 1
         FROM ${schema}.runs AS r
         WHERE s.run_id = $1 AND s.slug = $2 AND s.kind IS NULL AND r.run_id = s.run_id AND r.started_at = $3
         RETURNING s.listed, s.is_left OR s.tries > 1 AS may_be_left, r.options`,
        [runId, slug, started_at, worker],
      );
      if (row !== undefined) return { ...toHeld(job, row), stream: readListed(row.listed), mayBeLeft: row.may_be_left };
      // The job belongs to an earlier attempt, or its stream has already ended.
      await this.#jobs.complete(job);
    }
  }

  /** Records the outcome of a stream. The last stream to end adds the job for the conclusion. */
  settle({ job }: Pick<HeldStream, 'job'>, outcome: StreamOutcome): Promise<void> {
    const { schema } = this.#db;
    const { run_id: runId, started_at, slug } = job.task;
    return this.#db.transaction(async (query) => {
      const ended = await query(
        `UPDATE ${schema}.streams AS s SET kind = $4, outcome = $5, ended_at = now() FROM ${schema}.runs AS r
         WHERE s.run_id = $1 AND s.slug = $2 AND s.kind IS NULL AND r.run_id = s.run_id AND r.started_at = $3
         RETURNING 1`,
        [runId, slug, started_at, outcome.kind, outcomeText(outcome)],
      );
      if (ended.length > 0) await this.#countDown(query, job.task);
      await this.#jobs.complete(job, query);
    });
  }

  async #countDown(query: RunStatement, task: Task): Promise<void> {
    const [run] = await query<{ open: number }>(
      `UPDATE ${this.#db.schema}.runs SET open = open - 1, state = CASE WHEN open = 1 THEN 'concluding' ELSE state END
       WHERE run_id = $1 RETURNING open`,
      [task.run_id],
    );
    if (run?.open === 0) await this.#jobs.add('conclusions', [{ ...task, slug: null }], query);
  }

  /** Returns a stream without an outcome to the queue for another try. */
  async giveBack({ job }: Pick<HeldStream, 'job'>, failure: TaskFailure): Promise<void> {
    const { run_id: runId, slug } = job.task;
    await this.#db.query(
      `UPDATE ${this.#db.schema}.streams SET failure = $3, worker = NULL WHERE run_id = $1 AND slug = $2 AND kind IS NULL`,
      [runId, slug, JSON.stringify(failure)],
    );
    await this.#jobs.giveBack(job, failure);
  }

  /** Takes the conclusion of a run whose streams have all ended; null if there is none. */
  async takeConclusion(worker: string): Promise<HeldConclusion | null> {
    const job = await this.#jobs.take('conclusions');
    if (job === null) return null;
    const [row] = await this.#db.query<{ options: string }>(
      `UPDATE ${this.#db.schema}.runs SET worker = $3
       WHERE run_id = $1 AND started_at = $2 AND state = 'concluding' RETURNING options`,
      [job.task.run_id, job.task.started_at, worker],
    );
    if (row !== undefined) return toHeld(job, row);
    await this.#jobs.complete(job);
    return null;
  }

  /** Records the result of a run. */
  conclude({ job }: HeldConclusion, conclusion: Conclusion): Promise<void> {
    return this.#end(job, { result: JSON.stringify(conclusion), failure: null });
  }

  /** Ends a run that cannot be concluded, until it is requested again. */
  failConclusion({ job }: HeldConclusion, failure: TaskFailure): Promise<void> {
    return this.#end(job, { result: null, failure: JSON.stringify(failure) });
  }

  /** Returns a failed conclusion to the queue for another try. */
  async giveConclusionBack({ job }: HeldConclusion, failure: TaskFailure): Promise<void> {
    const { schema, query } = this.#db;
    await query(`UPDATE ${schema}.runs SET failure = $2 WHERE run_id = $1`, [job.task.run_id, JSON.stringify(failure)]);
    await this.#jobs.giveBack(job, failure);
  }

  /** Ends a job whose tries are used up. @returns false if there is none. */
  async settleLost(): Promise<boolean> {
    const job = await this.#jobs.take('lost');
    if (job === null) return false;
    const { run_id: runId, slug } = job.task;
    if (slug === null) {
      await this.#end(job, { result: null, failure: null });
      return true;
    }
    const [row] = await this.#db.query<{ listed: string; failure: string | null }>(
      `SELECT listed, failure FROM ${this.#db.schema}.streams WHERE run_id = $1 AND slug = $2`,
      [runId, slug],
    );
    if (row === undefined) await this.#jobs.complete(job);
    else await this.settle({ job }, toLost(readListed(row.listed).streamId, row.failure));
    return true;
  }

  /** @param end if both members are null, the recorded failure stays. */
  #end(job: HeldJob, { result, failure }: { result: string | null; failure: string | null }): Promise<void> {
    const { run_id: runId, started_at } = job.task;
    return this.#db.transaction(async (query) => {
      await query(
        `UPDATE ${this.#db.schema}.runs SET state = 'ended', ended_at = now(), result = $3,
           failure = CASE WHEN $3::text IS NULL THEN coalesce($4, failure) END
         WHERE run_id = $1 AND started_at = $2 AND state <> 'ended'`,
        [runId, started_at, result, failure],
      );
      await this.#jobs.complete(job, query);
    });
  }

  /** Reports that a worker is alive, and keeps the jobs that it holds. */
  async beat(worker: string, held: readonly HeldJob[]): Promise<void> {
    await this.#db.query(
      `INSERT INTO ${this.#db.schema}.workers VALUES ($1, now(), now()) ON CONFLICT (name) DO UPDATE SET seen_at = now()`,
      [worker],
    );
    await this.#jobs.keep(held);
  }

  async leave(worker: string): Promise<void> {
    await this.#db.query(`DELETE FROM ${this.#db.schema}.workers WHERE name = $1`, [worker]);
  }

  /** True if no run is active. */
  async isIdle(): Promise<boolean> {
    return (await this.#db.query(`SELECT 1 FROM ${this.#db.schema}.runs WHERE state <> 'ended' LIMIT 1`)).length === 0;
  }
}

function toTask(runId: string, startedAt: Date, slug: string | null): Task {
  return { run_id: runId, started_at: startedAt.toISOString(), slug };
}

function toHeld(job: HeldJob, { options }: { options: string }): HeldConclusion {
  const { run_id: runId, started_at } = job.task;
  return { job, runId, startedAt: new Date(started_at), options: readKept(optionsSchema, options) };
}

function toLost(streamId: string, failureText: string | null): StreamOutcome {
  const last = failureText === null ? null : readKept(taskFailureSchema, failureText);
  const why = last === null ? 'each of them ended during the export of the stream' : `the last time: ${last.reason}`;
  const reason = `${TRIES} workers tried to export the stream and failed; ${why}`;
  const next_step = last?.next_step ?? {
    before: "Check the workers' output, memory and disk space, then",
  };
  return { kind: 'failed', failure: { stream_id: streamId, code: last?.code ?? 'service', reason, next_step } };
}
