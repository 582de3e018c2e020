import { messageOf } from '../../core/errors.ts';
import type { Database, Transaction } from '../database/database.ts';
import { isDue } from './due.ts';
import { type FailureListener, keepLooking, type Looking } from './looking.ts';
import type { JobTables } from './tables.ts';

/** Recurring job, which runs in one process at a time. */
export interface Job {
  name: string;
  everyMs: number;
  /** Maximum duration of a run, after which its process is considered dead and another run starts. */
  atMostMs: number;
  run(): Promise<void>;
}

export const TIDY_MS = 60 * 60_000;

/** Returns a job that deletes outdated rows every hour, in one transaction. */
export function tidyJob(
  name: string,
  database: Pick<Database, 'write'>,
  tidy: (transaction: Transaction) => Promise<unknown>,
): Job {
  const run = async () => {
    await database.write(tidy);
  };
  return { name, everyMs: TIDY_MS, atMostMs: TIDY_MS, run };
}

/** Time after which a scheduler that neither looked for nor runs a job has stopped. */
const LATE_MS = 30_000;

/** Runs jobs when they are due, each in one process at a time. */
export class Scheduler {
  readonly #database: Database;
  readonly #jobs: readonly Job[];
  readonly #clock: () => Date;
  /** Time by which the next look must happen. */
  #nextLookBy = 0;

  constructor(database: Database, jobs: readonly Job[], clock: () => Date) {
    this.#database = database;
    this.#jobs = jobs;
    this.#clock = clock;
  }

  /**
   * Starts to look for due jobs.
   * @param onFailure is called with the error of a job, which runs again when due.
   * @param listener is notified of failures to look for due jobs.
   * @returns a handle whose `stop` resolves when no job is running.
   */
  start(onFailure: (job: string, error: unknown) => void, listener: FailureListener): Looking {
    return keepLooking(() => this.runDue(onFailure), listener);
  }

  /** Reports whether the scheduler is still looking, or runs a job within its time limit. */
  get beats(): boolean {
    return this.#clock().getTime() <= this.#nextLookBy;
  }

  /** Runs due jobs. @returns the names of the jobs that ran here. */
  async runDue(onFailure: (job: string, error: unknown) => void): Promise<string[]> {
    const ran: string[] = [];
    for (const job of this.#jobs) {
      const beganAt = await this.#begin(job);
      this.#nextLookBy = this.#clock().getTime() + LATE_MS + (beganAt === null ? 0 : job.atMostMs);
      if (beganAt === null) continue;
      ran.push(job.name);
      let last_error: string | null = null;
      try {
        await job.run();
      } catch (error) {
        last_error = messageOf(error);
        onFailure(job.name, error);
      }
      await this.#end(job, { beganAt, last_error });
    }
    return ran;
  }

  /**
   * Takes a due job, which no other process runs until it ends or exceeds its time limit. @returns the start time; null
   * if the job is not due.
   */
  #begin({ name, everyMs, atMostMs }: Job): Promise<string | null> {
    const now = this.#clock();
    const began_at = now.toISOString();
    const row = { due_at: new Date(now.getTime() + atMostMs).toISOString(), began_at };
    return this.#database.write(async (transaction) => {
      const tables = transaction.tables<JobTables>();
      const job = { name, ...row, ended_at: null, succeeded_at: null, last_error: null };
      const added = tables.insertInto('jobs').values(job);
      const once = added.onConflict((conflict) => conflict.column('name').doNothing());
      const { numInsertedOrUpdatedRows: made } = await once.executeTakeFirstOrThrow();
      if (made === 1n) return began_at;
      const jobs = tables.updateTable('jobs').set(row).where('name', '=', name);
      const due = jobs.where(isDue(now, Math.max(everyMs, atMostMs)));
      const { numUpdatedRows } = await due.executeTakeFirstOrThrow();
      return numUpdatedRows === 1n ? began_at : null;
    });
  }

  async #end(
    { name, everyMs }: Job,
    { beganAt, last_error }: { beganAt: string; last_error: string | null },
  ): Promise<void> {
    const now = this.#clock();
    const due_at = new Date(now.getTime() + everyMs).toISOString();
    const ended_at = now.toISOString();
    const succeeded = last_error === null ? { succeeded_at: ended_at } : {};
    await this.#database.write((transaction) => {
      const jobs = transaction
        .tables<JobTables>()
        .updateTable('jobs')
        .set({ due_at, ended_at, last_error, ...succeeded });
      // A run that exceeded its limit must not end a later run.
      return jobs.where('name', '=', name).where('began_at', '=', beganAt).execute();
    });
  }
}
