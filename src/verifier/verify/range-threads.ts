import { once } from 'node:events';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { programUrl } from '../../core/install-paths.ts';

/** Minimum size of a file for which starting a thread saves time. */
const LARGE_FILE_BYTES = 32 * 2 ** 20;
/** Maximum number of threads; more gain little compared with the start of the program. */
const MAX_THREADS = 4;

/** Heap limits of a thread, which allocates next to nothing in JavaScript. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

const PROGRAM = programUrl('verifier/verify/range-worker');

/** Started threads that wait for a job. Disposing of them ends those without one. */
export class RangeThreads implements AsyncDisposable {
  readonly workers: readonly Worker[];
  /** Resolves when all threads have started or failed to start. */
  readonly started: Promise<unknown>;

  /** @param count number of threads besides the caller's. @param program program that each of them runs. */
  constructor(count: number, program = PROGRAM) {
    this.workers = Array.from({ length: count }, () => startThread(program)).filter((worker) => worker !== null);
    this.started = Promise.allSettled(this.workers.map((worker) => once(worker, 'online')));
  }

  /**
   * Starts the threads for a file. A thread takes as long to start as loading the code that verifies a package: start
   * the threads before loading it.
   * @param asked number of threads that read the file; null for one per core, if the file is large enough to gain.
   */
  static for(path: string, asked: number | null): RangeThreads {
    const found = statSync(path, { throwIfNoEntry: false });
    const bytes = found?.isFile() === true ? found.size : 0;
    const threads = asked ?? (bytes < LARGE_FILE_BYTES ? 1 : Math.min(availableParallelism(), MAX_THREADS));
    return new RangeThreads(bytes === 0 ? 0 : threads - 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.terminate()));
  }
}

/** Returns null if threads are not available, e.g. under Node's `--permission`. */
function startThread(program: URL): Worker | null {
  try {
    const worker = new Worker(program, { resourceLimits: HEAP, stdout: true, stderr: true });
    // An error loses nothing: the main thread reads what no other thread has read.
    return worker.on('error', () => {});
  } catch {
    return null;
  }
}
