import { type ErrorCode, EvidenceError, isEvidenceError, messageOf, RESUME } from '../../core/errors.ts';
import { wait } from '../../core/wait.ts';
import type { JoinedRun } from '../export/handed-out.ts';
import { type StreamOutcome, toFailed } from '../export/stream-jobs.ts';
import type { HeldJob } from './jobs.ts';
import { JoinedRuns } from './joined-runs.ts';
import type { HandedRun, HeldConclusion, HeldStream, RunQueue } from './run-queue.ts';
import type { Conclusion, TaskFailure } from './tasks.ts';

/** Polling interval of an idle worker. */
const IDLE_MS = 1000;
/** Interval of heartbeats, well below the silence after which a worker is considered dead. */
const BEAT_MS = 5000;

/** Errors of this machine or of its connection to the archive, which another worker may not have. */
const ENDS_THE_WORKER: ReadonlySet<ErrorCode> = new Set(['archive', 'store-refused', 'work-directory', 'interrupted']);

/** Dependencies of a worker. */
interface WorkerDeps {
  queue: RunQueue;
  /** Unique name of this worker. */
  name: string;
  /** Number of streams exported concurrently. */
  concurrency: number;
  /** True if the worker ends when no run is active. */
  endsIdle: boolean;
  /** @throws EvidenceError if this worker cannot take part in the run. */
  join: (run: HandedRun) => Promise<JoinedRun>;
  /** Concludes a run whose streams have all ended. */
  conclude: (run: HandedRun) => Promise<Conclusion>;
  /** Receives a line for each failure that is retried. */
  note: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Takes streams and conclusions from the queue until it is stopped. Failures of this machine or of the archive end the
 * worker, and its jobs go to others.
 * @throws EvidenceError for the failure that ended it.
 */
export async function runWorker(deps: WorkerDeps): Promise<void> {
  const own = new AbortController();
  const signal = AbortSignal.any([deps.signal, own.signal]);
  const worker = new Worker({ ...deps, signal });
  const beating = worker.beat().catch((error: unknown) => own.abort(error));
  const slots = [...Array.from({ length: deps.concurrency }, () => worker.exportStreams()), worker.concludeRuns()];
  const ended = slots.map((slot) =>
    slot.catch((error: unknown) => {
      own.abort(error);
      throw error;
    }),
  );
  const results = await Promise.allSettled(ended);
  own.abort(new EvidenceError('interrupted', 'the worker has ended'));
  await beating;
  await worker.close();
  deps.signal.throwIfAborted();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

class Worker {
  readonly #deps: WorkerDeps;
  readonly #runs = new JoinedRuns();
  /** Jobs that this worker holds. */
  readonly #held = new Set<HeldJob>();

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
  }

  async beat(): Promise<never> {
    const { queue, name, signal } = this.#deps;
    for (;;) {
      await queue.beat(name, [...this.#held]);
      await wait(BEAT_MS, signal);
    }
  }

  exportStreams(): Promise<void> {
    return this.#whileAsked(async () => {
      const held = await this.#deps.queue.takeStream(this.#deps.name);
      if (held === null) return false;
      await this.#holding(held, () => this.#export(held));
      return true;
    });
  }

  concludeRuns(): Promise<void> {
    return this.#whileAsked(async () => {
      if (await this.#deps.queue.settleLost()) return true;
      const held = await this.#deps.queue.takeConclusion(this.#deps.name);
      if (held === null) return false;
      await this.#holding(held, () => this.#conclude(held));
      return true;
    });
  }

  async close(): Promise<void> {
    await this.#runs.close();
    await this.#deps.queue.leave(this.#deps.name).catch(() => {});
  }

  /** @param work returns false if there was nothing to do. */
  async #whileAsked(work: () => Promise<boolean>): Promise<void> {
    const { queue, endsIdle, signal } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      if (await work()) continue;
      if (endsIdle && (await queue.isIdle())) return;
      await wait(IDLE_MS, signal);
    }
  }

  async #holding({ job }: HeldConclusion, work: () => Promise<void>): Promise<void> {
    this.#held.add(job);
    try {
      await work();
    } finally {
      this.#held.delete(job);
    }
  }

  async #export(held: HeldStream): Promise<void> {
    const { queue, join } = this.#deps;
    if (isLate(held)) return queue.settle(held, toFailed(held.stream.streamId, deadlineOf(held)));
    try {
      const outcome = await this.#runs.use(
        nameOf(held),
        () => join(held),
        (run) => exportWith(run, held),
      );
      await queue.settle(held, outcome);
    } catch (error) {
      await this.#giveBack(() => queue.giveBack(held, toFailure(error)));
      throw error;
    }
  }

  async #conclude(held: HeldConclusion): Promise<void> {
    const { queue, join } = this.#deps;
    try {
      // A worker that cannot join the run must not decide its conclusion.
      await this.#runs.use(
        nameOf(held),
        () => join(held),
        () => this.#concludeJoined(held),
      );
    } catch (error) {
      await this.#giveBack(() => queue.giveConclusionBack(held, toFailure(error)));
      throw error;
    }
  }

  /** Concludes a run. An error that would end an export ends the run, until the same command runs again. */
  async #concludeJoined(held: HeldConclusion): Promise<void> {
    const { queue, conclude } = this.#deps;
    let failure: TaskFailure;
    try {
      return await queue.conclude(held, await conclude(held));
    } catch (error) {
      if (endsTheWorker(error)) throw error;
      failure = toFailure(error);
    }
    await queue.failConclusion(held, failure);
  }

  /** Gives a job back. If that fails, the job goes to another worker after this worker's heartbeats stop. */
  async #giveBack(give: () => Promise<void>): Promise<void> {
    await give().catch((error: unknown) => this.#deps.note(messageOf(error)));
  }
}

function nameOf({ runId, startedAt }: HandedRun): string {
  return `${runId} ${startedAt.toISOString()}`;
}

/** Exports a stream. An error that only concerns the stream becomes its outcome. */
async function exportWith(run: JoinedRun, held: HeldStream): Promise<StreamOutcome> {
  try {
    return await run.export(held.stream, held.mayBeLeft);
  } catch (error) {
    if (isLate(held)) return toFailed(held.stream.streamId, deadlineOf(held));
    if (!isEvidenceError(error) || endsTheWorker(error)) throw error;
    return toFailed(held.stream.streamId, error);
  }
}

/** Returns the error of a run that has reached its deadline. */
export function deadlineOf({ runId }: Pick<HandedRun, 'runId'>): EvidenceError {
  return new EvidenceError('interrupted', `the deadline of run ${runId} passed`, {
    nextStep: RESUME,
  });
}

function isLate({ options: { deadline_at: deadlineAt } }: HandedRun): boolean {
  return deadlineAt !== null && Date.now() >= Date.parse(deadlineAt);
}

/** Reports whether an error ends the worker: defects and system errors may not be caused by the stream. */
function endsTheWorker(error: unknown): boolean {
  return !isEvidenceError(error) || ENDS_THE_WORKER.has(error.code);
}

function toFailure(error: unknown): TaskFailure {
  const [code, next_step] =
    error instanceof EvidenceError ? [error.code, error.step ?? null] : (['service', null] as const);
  return { code, reason: messageOf(error), next_step };
}
