import type { WasmDecoder, WasmOptions } from '../decode/wasm/decoder.ts';
import { decodeRange, type KeptRange, Slot } from '../decode/wasm/segments.ts';
import type { RangeThreads } from './range-threads.ts';
import type { RangeAnswer } from './range-worker.ts';
import { boundsOf, claim, claimNext, noteFolded, type Ranges, readerOf, WINDOW } from './ranges.ts';

/** Owner number of the main thread; workers are numbered from the next one. */
const MAIN_THREAD = 1;

/** Threads that decode ranges of a file, including this one. A failed thread counts as absent. */
export class RangeWorkers {
  readonly #file: number;
  readonly #ranges: Ranges;
  readonly #threads: RangeThreads;
  readonly #workers = new Map<number, RangeWorker>();
  readonly #slots: SharedArrayBuffer[] = [];
  /** Ranges that this thread has decoded out of order. */
  readonly #own = new Map<number, KeptRange | null>();

  /**
   * Takes over threads that have no job yet.
   * @param file file descriptor, which must stay open until `close` has resolved.
   */
  constructor(file: number, ranges: Ranges, threads: RangeThreads) {
    this.#file = file;
    this.#ranges = ranges;
    this.#threads = threads;
  }

  /** Sends the threads their job. Only the first call has an effect, because the job never changes. */
  begin(options: WasmOptions): void {
    const { count } = this.#threads;
    if (count === 0 || this.#workers.size > 0) return;
    const job = { file: this.#file, ranges: this.#ranges, slots: this.#slots, options };
    for (let slot = 0; slot < WINDOW; slot++) this.#slots.push(Slot.allocate());
    for (let owner = MAIN_THREAD + 1; owner <= MAIN_THREAD + count; owner++)
      this.#workers.set(owner, new RangeWorker(this.#threads.values({ owner, ...job }, { isAhead: true })));
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
    await Promise.all([...this.#workers.values()].map((worker) => worker.done));
    await this.#threads.endIdle();
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

/** Answers of one thread. */
class RangeWorker {
  readonly #answers = new Map<number, KeptRange | null>();
  /** Resolves when no more answers come. */
  readonly done: Promise<void>;
  #isDone = false;
  /** Wakes the waiting caller. */
  #wake = () => {};

  constructor(answers: AsyncIterable<RangeAnswer>) {
    this.done = this.#take(answers);
  }

  /** Returns undefined while the answer may still come; null also if the thread ended without it. */
  answerOf(range: number): KeptRange | null | undefined {
    const answer = this.#answers.get(range);
    this.#answers.delete(range);
    return answer === undefined && this.#isDone ? null : answer;
  }

  /** Resolves when the thread has answered or ended. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #take(answers: AsyncIterable<RangeAnswer>): Promise<void> {
    try {
      for await (const { range, decoded } of answers) {
        this.#answers.set(range, decoded);
        this.#wake();
      }
    } catch {
      // An error loses nothing: the main thread reads what no other thread has read.
    }
    this.#isDone = true;
    this.#wake();
  }
}
