import { messageOf } from '../../core/errors.ts';
import type { Database } from '../database/database.ts';
import { type FailureListener, keepLooking, type Looking } from './looking.ts';
import type { JobTables } from './tables.ts';

/** A recurring job, which runs once over all processes. */
export interface Job {
  name: string;
  everyMs: number;
  /** A run that takes longer was by somebody who is gone, and another one begins. */
  atMostMs: number;
  run(): Promise<void>;
}

/** A process that has not looked for so long, and runs nothing, has stopped. */
const LATE_MS = 30_000;

/** Runs jobs when they are due, each in one process at a time. */
export class Scheduler {
  readonly #database: Database;
  readonly #jobs: readonly Job[];
  readonly #clock: () => Date;
  /** Until when the next look must have been. */
  #nextLookBy = 0;

  constructor(database: Database, jobs: readonly Job[], clock: () => Date) {
    this.#database = database;
    this.#jobs = jobs;
    this.#clock = clock;
  }

  /**
   * Begins to look.
   * @param onFailure is told what a job threw; the job runs again when it is due.
   * @param listener is told when it cannot be looked what is due.
   * @returns how to end it: resolved when no job runs any more.
   */
  start(onFailure: (job: string, error: unknown) => void, listener: FailureListener): Looking {
    return keepLooking(() => this.runDue(onFailure), listener);
  }

  /** True if it still looks, or runs a job that may take so long. */
  get beats(): boolean {
    return this.#clock().getTime() <= this.#nextLookBy;
  }

  /** Runs what is due. @returns the names of what was run here. */
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
   * Takes a job that is due: nobody else runs it until it ends, or has taken too long. @returns when; null if it is not
   * due.
   */
  #begin({ name, atMostMs }: Job): Promise<string | null> {
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
      const due = tables.updateTable('jobs').set(row).where('name', '=', name);
      const { numUpdatedRows } = await due.where('due_at', '<=', began_at).executeTakeFirstOrThrow();
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
      // A run that took too long must not end the one that began since.
      return jobs.where('name', '=', name).where('began_at', '=', beganAt).execute();
    });
  }
}
