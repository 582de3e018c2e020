import { type ResourceLimits, Worker } from 'node:worker_threads';

/** Threads that are kept for the next work of this process: to load their program takes longer than most of the work. */
export class KeptThreads {
  readonly #program: URL;
  readonly #resourceLimits: ResourceLimits;
  /** Never more than worked at once. */
  readonly #idle = new Set<Worker>();

  constructor(program: URL, resourceLimits: ResourceLimits) {
    this.#program = program;
    this.#resourceLimits = resourceLimits;
  }

  /** Null where threads are not to be had, e.g. under Node's `--permission`. */
  take(): Worker | null {
    const [idle] = this.#idle;
    const thread = idle ?? this.#start();
    if (thread === null) return null;
    this.#idle.delete(thread);
    thread.ref();
    return thread;
  }

  /** Only one that is sound, has nothing to do, and that nobody listens to. */
  keep(thread: Worker): void {
    this.#idle.add(thread);
    // One that is idle holds no process.
    thread.unref();
  }

  /** Ends those that have nothing to do: what they hold is needed for something else. */
  async end(): Promise<void> {
    for (const thread of this.#idle) await thread.terminate();
  }

  #start(): Worker | null {
    try {
      const thread = new Worker(this.#program, { resourceLimits: this.#resourceLimits });
      thread.on('exit', () => this.#idle.delete(thread));
      // Also while it ends, when nobody asks it any more.
      return thread.on('error', () => {});
    } catch {
      return null;
    }
  }
}
