import type { WorkerOptions } from 'node:worker_threads';
import { TaskThread } from './task-thread.ts';

export interface PoolOptions extends WorkerOptions {
  /** Threads at most. */
  most: number;
  /** One that had nothing to do for so long ends: it holds memory. */
  idleMs: number;
}

/** Threads that carry out tasks beside the one that asks; they begin when they are needed. */
export class ThreadPool<Task> {
  readonly #program: URL;
  readonly #options: PoolOptions;
  readonly #threads = new Map<TaskThread<Task>, NodeJS.Timeout | null>();

  /** @param program one that calls `serveTasks`. */
  constructor(program: URL, options: PoolOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** The one value of a task. @throws what the task does; the reason of `signal`. */
  async run<T>(task: Task, signal: AbortSignal): Promise<T> {
    for await (const value of this.values<T>(task, signal)) return value;
    throw new Error('a task had no outcome');
  }

  /** Yields the values of a task. Leaving the loop ends the task. */
  async *values<T>(task: Task, signal: AbortSignal): AsyncGenerator<T> {
    const thread = this.#take();
    try {
      yield* thread.values<T>(task, signal);
    } finally {
      this.#giveBack(thread);
    }
  }

  /** Tasks under way. */
  get busy(): number {
    return [...this.#threads.keys()].reduce((sum, thread) => sum + thread.busy, 0);
  }

  /** Ends all threads; a task under way fails. */
  async close(): Promise<void> {
    const threads = [...this.#threads.keys()];
    for (const timer of this.#threads.values()) clearTimeout(timer ?? undefined);
    this.#threads.clear();
    await Promise.all(threads.map((thread) => thread.close()));
  }

  /** The one with the least to do. */
  #take(): TaskThread<Task> {
    for (const thread of this.#threads.keys()) if (thread.hasEnded) this.#threads.delete(thread);
    const [least] = [...this.#threads.keys()].sort((a, b) => a.busy - b.busy);
    const isFree = least !== undefined && (least.busy === 0 || this.#threads.size >= this.#options.most);
    const thread = isFree ? least : new TaskThread<Task>(this.#program, this.#options);
    clearTimeout(this.#threads.get(thread) ?? undefined);
    this.#threads.set(thread, null);
    return thread;
  }

  #giveBack(thread: TaskThread<Task>): void {
    if (thread.busy > 0 || !this.#threads.has(thread)) return;
    const timer = setTimeout(() => {
      this.#threads.delete(thread);
      void thread.close();
    }, this.#options.idleMs);
    this.#threads.set(thread, timer.unref());
  }
}
