import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { programUrl } from '../../core/install-paths.ts';
import { Threads } from '../../core/threads/threads.ts';
import type { RangeAnswer, RangeJob } from './range-worker.ts';

/** Minimum size of a file for which starting a thread saves time. */
const LARGE_FILE_BYTES = 32 * 2 ** 20;
/** Maximum number of threads; more gain little compared with the start of the program. */
const MAX_THREADS = 4;

/** Heap limits of a thread, which allocates next to nothing in JavaScript. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

/** Threads that decode ranges of one file, each asked once. */
export type RangeThreads = Threads<RangeJob, RangeAnswer>;

/** @param count number of threads besides the caller's. @param program program that each of them runs. */
export function startRangeThreads(count: number, program = programUrl('verifier/verify/range-worker')): RangeThreads {
  const threads: RangeThreads = new Threads(program, { resourceLimits: HEAP, stdout: true, stderr: true });
  threads.start(count);
  return threads;
}

/**
 * Starts the threads for a file. A thread takes as long to start as loading the code that verifies a package: start
 * the threads before loading it.
 * @param asked number of threads that read the file; null for one per core, if the file is large enough to gain.
 */
export function rangeThreadsFor(path: string, asked: number | null): RangeThreads {
  const found = statSync(path, { throwIfNoEntry: false });
  const bytes = found?.isFile() === true ? found.size : 0;
  const threads = asked ?? (bytes < LARGE_FILE_BYTES ? 1 : Math.min(availableParallelism(), MAX_THREADS));
  return startRangeThreads(bytes === 0 ? 0 : threads - 1);
}
