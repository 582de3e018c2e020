import type { Worker } from 'node:worker_threads';
import type { WasmDecoder, WasmOptions } from '../decode/wasm/decoder.ts';
import { decodeRange, type KeptRange, Slot } from '../decode/wasm/segments.ts';
import type { RangeAnswer, RangeJob } from './range-worker.ts';
import { boundsOf, claim, claimNext, noteFolded, type Ranges, readerOf, WINDOW } from './ranges.ts';

/** Owner of ranges; workers are counted on from it. */
const MAIN_THREAD = 1;

/** Threads that decode ranges of a file, this one among them. A thread that fails is as good as none. */
export class RangeWorkers {
  readonly #file: number;
  readonly #ranges: Ranges;
  readonly #workers = new Map<number, RangeWorker>();
  readonly #slots: SharedArrayBuffer[] = [];
  /** Ranges that this thread has decoded out of turn. */
  readonly #own = new Map<number, KeptRange | null>();
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
  begin(options: WasmOptions): void {
    if (this.#begun || this.#workers.size === 0) return;
    this.#begun = true;
    for (let slot = 0; slot < WINDOW; slot++) this.#slots.push(Slot.allocate());
    for (const [owner, worker] of this.#workers)
      worker.begin({ owner, file: this.#file, ranges: this.#ranges, slots: this.#slots, options });
  }

  /**
   * Returns what another thread has made of a range, or this one while it waited for that; null where it is for this one to read.
   * @param decoder of this thread; its memory is written over.
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

  /** Ranges before it were folded. */
  noteFolded(range: number): void {
    noteFolded(this.#ranges, range);
  }

  /** Leaves the threads nothing to decode, and waits for their end: they have keys to forget. */
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

/** One thread and its answers. */
class RangeWorker {
  readonly #thread: Worker;
  readonly #answers = new Map<number, KeptRange | null>();
  #ended = false;
  /** Has who waits look again. */
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

  /** Undefined as long as it may yet come; null also from a thread that has ended without it. */
  answerOf(range: number): KeptRange | null | undefined {
    const answer = this.#answers.get(range);
    this.#answers.delete(range);
    return answer === undefined && this.#ended ? null : answer;
  }

  /** @param told a thread that was not told anything waits for ever. */
  async close(told: boolean): Promise<void> {
    if (!told) await this.#thread.terminate();
    while (!this.#ended) await this.change();
  }

  /** Until the thread has answered, or ended. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
