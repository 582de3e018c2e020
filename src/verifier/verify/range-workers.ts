import { Worker } from 'node:worker_threads';
import { programUrl } from '../../core/install-paths.ts';
import type { Stretch, StretchOptions } from '../chain/stretch.ts';
import type { RangeAnswer, RangeJob } from './range-worker.ts';
import { claim, type Ranges } from './ranges.ts';

/** Owner of ranges; workers are counted on from it. */
const MAIN_THREAD = 1;

/** Next to nothing is made in JavaScript there. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

const PROGRAM = programUrl('verifier/verify/range-worker');

/** Threads that read ranges of a file, from the last one on. One that fails is as good as none. */
export class RangeWorkers {
  readonly #file: number;
  readonly #ranges: Ranges;
  readonly #workers = new Map<number, RangeWorker>();
  #begun = false;

  /**
   * Starts the threads; they wait to be told what to look for.
   * @param file number of an open file, which stays open until `close` is done.
   */
  constructor(file: number, ranges: Ranges, count: number, program = PROGRAM) {
    this.#file = file;
    this.#ranges = ranges;
    for (let owner = MAIN_THREAD + 1; owner <= MAIN_THREAD + count; owner++)
      this.#workers.set(owner, new RangeWorker(program));
  }

  /** Tells them; what is known does not change, so it is told once. */
  begin(options: StretchOptions): void {
    if (this.#begun) return;
    this.#begun = true;
    for (const [owner, worker] of this.#workers)
      worker.begin({ owner, file: this.#file, ranges: this.#ranges, options });
  }

  /** Null: the range is for the main thread to read. Else what a worker has made of it, once that is known. */
  async claim(range: number): Promise<Stretch | null> {
    const worker = this.#workers.get(claim(this.#ranges, range, MAIN_THREAD));
    return worker === undefined ? null : worker.stretchOf(range);
  }

  /** Leaves the threads nothing to read, and waits for their end: they have keys to forget. */
  async close(): Promise<void> {
    for (let range = 0; range < this.#ranges.owners.length; range++) claim(this.#ranges, range, MAIN_THREAD);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(this.#begun)));
  }
}

/** One thread and its answers. */
class RangeWorker {
  readonly #thread: Worker | null;
  readonly #answers = new Map<number, Stretch | null>();
  #ended = false;
  /** Has who waits look again. */
  #wake = () => {};

  constructor(program: URL) {
    this.#thread = startThread(program);
    this.#ended = this.#thread === null;
    this.#thread?.on('message', ({ range, stretch }: RangeAnswer) => {
      this.#answers.set(range, stretch);
      this.#wake();
    });
    // Nothing is lost by it: the main thread reads what no other has read.
    this.#thread?.on('error', () => {});
    this.#thread?.on('exit', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  begin(job: RangeJob): void {
    this.#thread?.postMessage(job);
  }

  async stretchOf(range: number): Promise<Stretch | null> {
    while (!this.#ended && !this.#answers.has(range)) await this.#change();
    const stretch = this.#answers.get(range) ?? null;
    this.#answers.delete(range);
    return stretch;
  }

  /** @param told a thread that was not told anything waits for ever. */
  async close(told: boolean): Promise<void> {
    if (!told) await this.#thread?.terminate();
    while (!this.#ended) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Null where threads are not to be had, e.g. under Node's `--permission`. */
function startThread(program: URL): Worker | null {
  try {
    return new Worker(program, { resourceLimits: HEAP, stdout: true, stderr: true });
  } catch {
    return null;
  }
}
