import { once } from 'node:events';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { programUrl } from '../../core/install-paths.ts';

/** Below it the start of a thread costs more than it saves. */
const LARGE_FILE_BYTES = 32 * 2 ** 20;
/** More than these gain little beside the start of the program. */
const MAX_THREADS = 4;

/** Next to nothing is made in JavaScript there. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

const PROGRAM = programUrl('verifier/verify/range-worker');

/** Threads that wait to be told what to read. Disposing of them ends those that were told nothing. */
export class RangeThreads implements AsyncDisposable {
  readonly workers: readonly Worker[];
  /** Done when all have started, or failed to. */
  readonly started: Promise<unknown>;

  /** @param count of threads besides the one that asks. @param program what each of them runs. */
  constructor(count: number, program = PROGRAM) {
    this.workers = Array.from({ length: count }, () => startThread(program)).filter((worker) => worker !== null);
    this.started = Promise.allSettled(this.workers.map((worker) => once(worker, 'online')));
  }

  /**
   * A thread takes as long to start as the code that verifies a package takes to load: start them before you load it.
   * @param asked how many threads read the file; null for as many as there are cores, if the file is large enough to gain.
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

/** Null where threads are not to be had, e.g. under Node's `--permission`. */
function startThread(program: URL): Worker | null {
  try {
    const worker = new Worker(program, { resourceLimits: HEAP, stdout: true, stderr: true });
    // Nothing is lost by it: the main thread reads what no other has read.
    return worker.on('error', () => {});
  } catch {
    return null;
  }
}
