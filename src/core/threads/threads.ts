import { answersOf, type Handler } from './messages.ts';
import { type Asking, Thread, type ThreadOptions } from './thread.ts';

export interface ThreadsOptions<Request, Answer> extends ThreadOptions {
  /** Answers requests if threads are not available, e.g. under Node's `--permission`. */
  here?: Handler<Request, Answer>;
}

const NEVER = new AbortController().signal;

/**
 * Threads that answer requests. They start when they are needed and are kept, because loading their program takes longer
 * than most work. An idle thread does not keep the process alive.
 */
export class Threads<Request, Answer> implements AsyncDisposable {
  readonly #program: URL;
  readonly #options: ThreadsOptions<Request, Answer>;
  /** All threads, including those that ended since the last one started. */
  #all: Thread<Request, Answer>[] = [];

  /** @param program program that calls `serve`. */
  constructor(program: URL, options: ThreadsOptions<Request, Answer> = {}) {
    this.#program = program;
    this.#options = options;
  }

  /** Number of threads that have not ended. */
  get count(): number {
    return this.#threads.length;
  }

  /** Number of requests under way. */
  get busy(): number {
    return this.#threads.reduce((sum, thread) => sum + thread.busy, 0);
  }

  /** Starts threads until `count` are idle; none if threads are not available. */
  start(count: number): void {
    try {
      while (this.#idle.length < count) this.#start();
    } catch {}
  }

  /** Resolves when all threads have started or failed to start. */
  get started(): Promise<unknown> {
    return Promise.all(this.#threads.map((thread) => thread.started));
  }

  /** Returns the value of an answer. @throws like `values`. */
  async ask<T extends Answer = Answer>(request: Request, asking: Asking = {}): Promise<T> {
    let answer: T | undefined;
    for await (const value of this.values<T>(request, { ...asking, isAhead: true })) answer = value;
    return answer as T;
  }

  /** Yields the values of an answer as `Thread.values` does. */
  async *values<T extends Answer = Answer>(request: Request, asking: Asking = {}): AsyncGenerator<T> {
    asking.signal?.throwIfAborted();
    const { here } = this.#options;
    const thread = this.#take();
    if (thread !== null) yield* thread.values(request, asking) as AsyncGenerator<T>;
    else if (here !== undefined) yield* answersOf(here, request, asking.signal ?? NEVER) as AsyncGenerator<T>;
  }

  /** Ends the idle threads, to free their memory. */
  async endIdle(): Promise<void> {
    await Promise.all(this.#idle.map((thread) => thread.end()));
  }

  /** Ends all threads. Requests under way fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.end()));
  }

  get #threads(): Thread<Request, Answer>[] {
    return this.#all.filter(({ hasEnded }) => !hasEnded);
  }

  get #idle(): Thread<Request, Answer>[] {
    return this.#threads.filter(({ busy }) => busy === 0);
  }

  /** Returns the thread with the fewest requests; null if threads are not available. */
  #take(): Thread<Request, Answer> | null {
    const { most = Number.POSITIVE_INFINITY, here } = this.#options;
    const [least] = this.#threads.toSorted((a, b) => a.busy - b.busy);
    if (least !== undefined && (least.busy === 0 || this.count >= most)) return least;
    try {
      return this.#start();
    } catch (error) {
      if (here === undefined) throw error;
      return null;
    }
  }

  #start(): Thread<Request, Answer> {
    const thread = new Thread<Request, Answer>(this.#program, this.#options);
    this.#all = [...this.#threads, thread];
    return thread;
  }
}
