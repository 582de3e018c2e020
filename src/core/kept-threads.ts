import { type ResourceLimits, Worker } from 'node:worker_threads';

/**
 * Threads that are kept for the next work of this process, because loading their program takes longer than most work.
 */
export class KeptThreads {
  readonly #program: URL;
  readonly #resourceLimits: ResourceLimits;
  /** Idle threads; never more than worked at the same time. */
  readonly #idle = new Set<Worker>();

  constructor(program: URL, resourceLimits: ResourceLimits) {
    this.#program = program;
    this.#resourceLimits = resourceLimits;
  }

  /** Returns an idle or a new thread; null if threads are not available, e.g. under Node's `--permission`. */
  take(): Worker | null {
    const [idle] = this.#idle;
    const thread = idle ?? this.#start();
    if (thread === null) return null;
    this.#idle.delete(thread);
    thread.ref();
    return thread;
  }

  /** Keeps a thread that is sound, idle and without listeners. */
  keep(thread: Worker): void {
    this.#idle.add(thread);
    // An idle thread must not keep the process alive.
    thread.unref();
  }

  /** Ends the idle threads, to free their resources. */
  async end(): Promise<void> {
    for (const thread of this.#idle) await thread.terminate();
  }

  #start(): Worker | null {
    try {
      const thread = new Worker(this.#program, { resourceLimits: this.#resourceLimits });
      thread.on('exit', () => this.#idle.delete(thread));
      // Handles errors even while the thread ends, when no one listens any more.
      return thread.on('error', () => {});
    } catch {
      return null;
    }
  }
}
