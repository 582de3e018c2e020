import { once } from 'node:events';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { DomainError } from '../errors.ts';
import type { FromThread, ToThread } from './serving.ts';

interface Waiting {
  resolve(answer: FromThread): void;
  reject(error: unknown): void;
}

/** A thread that carries out tasks. */
class TaskThread<Task> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  /** The error that ended the thread. */
  #end: Error | null = null;
  /** Tasks under way. */
  busy = 0;

  constructor(program: URL, options: WorkerOptions) {
    this.#worker = new Worker(program, options);
    this.#worker.on('message', (answer: FromThread) => {
      this.#waiting.get(answer.id)?.resolve(answer);
      this.#waiting.delete(answer.id);
    });
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#fail(new Error('a thread ended before its tasks')));
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Yields the values of a task; the thread is never ahead. @throws the task's error; the reason of `signal`. */
  async *values<T>(task: Task, signal: AbortSignal): AsyncGenerator<T> {
    signal.throwIfAborted();
    const id = ++this.#asked;
    this.busy++;
    this.#worker.ref();
    let isOver = false;
    try {
      let answer = await this.#ask({ id, task }, signal);
      while ('value' in answer) {
        yield answer.value as T;
        answer = await this.#ask({ id, wants: 'next' }, signal);
      }
      isOver = true;
      if ('refused' in answer) throw new DomainError(answer.refused.code, answer.refused.message);
      if ('failed' in answer) throw answer.failed;
    } finally {
      this.#waiting.delete(id);
      if (!isOver) this.#worker.postMessage({ id, wants: 'nothing' } satisfies ToThread<Task>);
      // One that has nothing to do holds no process.
      if (--this.busy === 0) this.#worker.unref();
    }
  }

  /** Ends it: in order where it has nothing to do. */
  async close(): Promise<void> {
    if (this.#end !== null) return;
    const ended = once(this.#worker, 'exit');
    this.#worker.ref();
    if (this.busy === 0) this.#worker.postMessage('close' satisfies ToThread<Task>);
    else void this.#worker.terminate();
    await ended;
  }

  async #ask(message: { id: number } & ToThread<Task>, signal: AbortSignal): Promise<FromThread> {
    if (this.#end !== null) throw this.#end;
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>();
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave);
    this.#waiting.set(message.id, { resolve, reject });
    this.#worker.postMessage(message);
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #fail(error: Error): void {
    this.#end ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#end);
    this.#waiting.clear();
  }
}

interface PoolOptions extends WorkerOptions {
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
