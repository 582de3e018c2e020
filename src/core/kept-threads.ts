import { type ResourceLimits, Worker } from 'node:worker_threads';

/** A thread that is kept for the next work of this process: to load its program takes longer than most of the work. */
export class KeptThread {
  readonly #program: URL;
  readonly #resourceLimits: ResourceLimits;
  #idle: Worker | null = null;

  constructor(program: URL, resourceLimits: ResourceLimits) {
    this.#program = program;
    this.#resourceLimits = resourceLimits;
  }

  /** Null where threads are not to be had, e.g. under Node's `--permission`. */
  take(): Worker | null {
    const thread = this.#idle ?? this.#start();
    this.#idle = null;
    thread?.ref();
    return thread;
  }

  /** Only one that is sound, has nothing to do, and that nobody listens to. */
  async keep(thread: Worker): Promise<void> {
    if (this.#idle !== null) {
      await thread.terminate();
      return;
    }
    this.#idle = thread;
    // One that is idle holds no process.
    thread.unref();
  }

  #start(): Worker | null {
    try {
      const thread = new Worker(this.#program, { resourceLimits: this.#resourceLimits });
      thread.on('exit', () => {
        if (this.#idle === thread) this.#idle = null;
      });
      // Also while it ends, when nobody asks it any more.
      return thread.on('error', () => {});
    } catch {
      return null;
    }
  }
}
