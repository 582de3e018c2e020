import { once } from 'node:events';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { DomainError } from '../errors.ts';
import type { FromThread, ToThread } from './messages.ts';

interface Waiting {
  resolve(answer: FromThread): void;
  reject(error: unknown): void;
}

/** A thread that carries out tasks. */
export class TaskThread<Task> {
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
