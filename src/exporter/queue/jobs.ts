import { PgBoss } from 'pg-boss';
import type { QueueDatabase, RunStatement } from './database.ts';
import { checkKept, type Task, type TaskFailure, taskSchema } from './tasks.ts';

/** Kinds of jobs. A job becomes `lost` after its last try has failed. */
type JobKind = 'streams' | 'conclusions' | 'lost';

/** Maximum number of tries of a job. A worker that dies uses up one try of each job that it holds. */
export const TRIES = 10;
/** Silence after which a worker is considered dead and its jobs are given to others. */
const HEARTBEAT_SECONDS = 20;
const WATCH_SECONDS = 5;
const COMMON = { retryLimit: TRIES - 1, retryDelay: 1, heartbeatSeconds: HEARTBEAT_SECONDS };
const QUEUE = {
  ...COMMON,
  deadLetter: 'lost',
  // Longer than any stream takes; a hanging worker is detected by its heartbeat.
  expireInSeconds: 86_399,
  retentionSeconds: 30 * 86_400,
  deleteAfterSeconds: 3600,
};

/** Job that this process holds. */
export interface HeldJob {
  kind: JobKind;
  id: string;
  task: Task;
}

/** Jobs in pg-boss, which gives each job to one worker at a time, and to another one if that worker dies. */
export class Jobs {
  readonly #boss: PgBoss;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /**
   * @param supervises true if this process looks for jobs of dead workers. @throws EvidenceError as the database does.
   */
  static async open(db: QueueDatabase, { supervises }: { supervises: boolean }): Promise<Jobs> {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => db.execute(text, values) },
      schema: db.schema,
      supervise: supervises,
      superviseIntervalSeconds: WATCH_SECONDS,
      monitorIntervalSeconds: WATCH_SECONDS,
      schedule: false,
    });
    // pg-boss repeats its background work after an error.
    boss.on('error', () => {});
    await boss.start();
    await boss.createQueue('lost', COMMON);
    for (const name of ['streams', 'conclusions']) await boss.createQueue(name, QUEUE);
    return new Jobs(boss);
  }

  async close(): Promise<void> {
    await this.#boss.stop({ close: false, graceful: false });
  }

  /** @param query of the transaction that adds the jobs. */
  async add(kind: JobKind, tasks: readonly Task[], query: RunStatement): Promise<void> {
    const jobs = tasks.map((data) => ({ data }));
    await this.#boss.insert(kind, jobs, { db: within(query) });
  }

  /** Takes the oldest job; null if there is none. @throws EvidenceError `unreadable`. */
  async take(kind: JobKind): Promise<HeldJob | null> {
    const [job] = await this.#boss.fetch(kind);
    return job === undefined ? null : { kind, id: job.id, task: checkKept(taskSchema, job.data) };
  }

  /** @param query of the transaction that completes the job. */
  async complete({ kind, id }: Pick<HeldJob, 'kind' | 'id'>, query?: RunStatement): Promise<void> {
    await this.#boss.complete(kind, id, null, query === undefined ? {} : { db: within(query) });
  }

  async giveBack({ kind, id }: Pick<HeldJob, 'kind' | 'id'>, failure: TaskFailure): Promise<void> {
    await this.#boss.fail(kind, id, failure);
  }

  /** Extends the heartbeat of jobs, so that they are not given to others. */
  async keep(jobs: readonly Pick<HeldJob, 'kind' | 'id'>[]): Promise<void> {
    for (const [kind, each] of Map.groupBy(jobs, (job) => job.kind))
      await this.#boss.touch(
        kind,
        each.map(({ id }) => id),
      );
  }
}

function within(query: RunStatement) {
  return { executeSql: async (text: string, values?: unknown[]) => ({ rows: await query(text, values) }) };
}
