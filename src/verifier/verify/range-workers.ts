import type { Worker } from 'node:worker_threads';
import type { Stretch, StretchOptions } from '../chain/stretch.ts';
import type { RangeAnswer, RangeJob } from './range-worker.ts';
import { claim, type Ranges } from './ranges.ts';

/** Owner of ranges; workers are counted on from it. */
const MAIN_THREAD = 1;

/** Threads that read ranges of a file, from the last one on. One that fails is as good as none. */
export class RangeWorkers {
  readonly #file: number;
  readonly #ranges: Ranges;
  readonly #workers = new Map<number, RangeWorker>();
  #begun = false;

  /**
   * @param file number of an open file, which stays open until `close` is done.
   * @param threads that were started and told nothing.
   */
  constructor(file: number, ranges: Ranges, threads: readonly Worker[]) {
    this.#file = file;
    this.#ranges = ranges;
    for (const [index, thread] of threads.entries())
      this.#workers.set(MAIN_THREAD + 1 + index, new RangeWorker(thread));
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
  readonly #thread: Worker;
  readonly #answers = new Map<number, Stretch | null>();
  #ended = false;
  /** Has who waits look again. */
  #wake = () => {};

  constructor(thread: Worker) {
    this.#thread = thread;
    this.#ended = thread.threadId < 0;
    this.#thread.on('message', ({ range, stretch }: RangeAnswer) => {
      this.#answers.set(range, stretch);
      this.#wake();
    });
    this.#thread.on('exit', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  begin(job: RangeJob): void {
    this.#thread.postMessage(job);
  }

  async stretchOf(range: number): Promise<Stretch | null> {
    while (!this.#ended && !this.#answers.has(range)) await this.#change();
    const stretch = this.#answers.get(range) ?? null;
    this.#answers.delete(range);
    return stretch;
  }

  /** @param told a thread that was not told anything waits for ever. */
  async close(told: boolean): Promise<void> {
    if (!told) await this.#thread.terminate();
    while (!this.#ended) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
