import type { Worker } from 'node:worker_threads';
import type { WasmDecoder, WasmOptions } from '../decode/wasm/decoder.ts';
import { decodeRange, type KeptRange, Slot } from '../decode/wasm/segments.ts';
import type { RangeAnswer, RangeJob } from './range-worker.ts';
import { boundsOf, claim, claimNext, noteFolded, type Ranges, readerOf, WINDOW } from './ranges.ts';

/** Owner number of the main thread; workers are numbered from the next one. */
const MAIN_THREAD = 1;

/** Threads that decode ranges of a file, including this one. A failed thread counts as absent. */
export class RangeWorkers {
  readonly #file: number;
  readonly #ranges: Ranges;
  readonly #workers = new Map<number, RangeWorker>();
  readonly #slots: SharedArrayBuffer[] = [];
  /** Ranges that this thread has decoded out of order. */
  readonly #own = new Map<number, KeptRange | null>();
  #begun = false;

  /**
   * Takes over threads that were started and have no job yet.
   * @param file file descriptor, which must stay open until `close` has resolved.
   */
  constructor(file: number, ranges: Ranges, threads: readonly Worker[]) {
    this.#file = file;
    this.#ranges = ranges;
    for (const [index, thread] of threads.entries())
      this.#workers.set(MAIN_THREAD + 1 + index, new RangeWorker(thread));
  }

  /** Sends the threads their job. Only the first call has an effect, because the job never changes. */
  begin(options: WasmOptions): void {
    if (this.#begun || this.#workers.size === 0) return;
    this.#begun = true;
    for (let slot = 0; slot < WINDOW; slot++) this.#slots.push(Slot.allocate());
    for (const [owner, worker] of this.#workers)
      worker.begin({ owner, file: this.#file, ranges: this.#ranges, slots: this.#slots, options });
  }

  /**
   * Returns the decoded range, from another thread or from this one while it waited; null if the caller must read the
   * range.
   * @param decoder of this thread; its memory is overwritten.
   */
  async claim(range: number, decoder: WasmDecoder | null): Promise<KeptRange | null> {
    for (;;) {
      const own = this.#own.get(range);
      if (own !== undefined) {
        this.#own.delete(range);
        return own;
      }
      const worker = this.#workers.get(claim(this.#ranges, range, MAIN_THREAD));
      if (worker === undefined) return null;
      const answer = worker.answerOf(range);
      if (answer !== undefined) return answer;
      if (decoder === null || !this.#decodeAnother(decoder)) await worker.change();
      else await new Promise(setImmediate);
    }
  }

  /** Records that all ranges before `range` were folded. */
  noteFolded(range: number): void {
    noteFolded(this.#ranges, range);
  }

  /** Leaves the threads nothing to decode and waits until they end, because they hold keys. */
  async close(): Promise<void> {
    const { owners } = this.#ranges;
    for (let range = 0; range < owners.length; range++) claim(this.#ranges, range, MAIN_THREAD);
    noteFolded(this.#ranges, owners.length);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(this.#begun)));
  }

  #decodeAnother(decoder: WasmDecoder): boolean {
    const range = claimNext(this.#ranges, MAIN_THREAD);
    const slot = range === null ? undefined : this.#slots[range % WINDOW];
    if (range === null || slot === undefined) return false;
    const decoded = decodeRange(decoder, readerOf(this.#file), boundsOf(this.#ranges, range));
    this.#own.set(range, decoded === null ? null : new Slot(slot).keep(decoded));
    return true;
  }
}

/** Thread and its answers. */
class RangeWorker {
  readonly #thread: Worker;
  readonly #answers = new Map<number, KeptRange | null>();
  #ended = false;
  /** Wakes the waiting caller. */
  #wake = () => {};

  constructor(thread: Worker) {
    this.#thread = thread;
    this.#ended = thread.threadId < 0;
    this.#thread.on('message', ({ range, decoded }: RangeAnswer) => {
      this.#answers.set(range, decoded);
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

  /** Returns undefined while the answer may still come; null also if the thread ended without it. */
  answerOf(range: number): KeptRange | null | undefined {
    const answer = this.#answers.get(range);
    this.#answers.delete(range);
    return answer === undefined && this.#ended ? null : answer;
  }

  /** @param told false for a thread without a job, which would wait forever. */
  async close(told: boolean): Promise<void> {
    if (!told) await this.#thread.terminate();
    while (!this.#ended) await this.change();
  }

  /** Resolves when the thread has answered or ended. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
