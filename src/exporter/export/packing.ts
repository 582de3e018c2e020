import { EvidenceError, RESUME } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import { Threads, type ThreadsOptions } from '../../core/threads/threads.ts';
import type { BundleOptions, WrittenBundle } from '../bundle/write.ts';

const OPTIONS: ThreadsOptions<BundleOptions, WrittenBundle> = {
  // Bundles pass through buffers outside the heap.
  resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2 },
  here: async (options) => (await import('../bundle/write.ts')).writeBundle(options),
  toFailure,
};

function toFailure(reason: string): EvidenceError {
  return new EvidenceError('archive', `the thread that packs bundles failed: ${reason}`, {
    nextStep: { ...RESUME, before: 'Earlier archived bundles are kept:' },
  });
}

/**
 * Maximum total size of packed bundles for which a thread is kept. Beyond it, the thread holds memory that the run's
 * reports need.
 */
const KEPT_UP_TO_BYTES = 4 * 2 ** 20;

/** Returns threads for `Packing`. @param program program that each of them runs. */
export function packingThreads(program = programUrl('exporter/export/packing-thread')) {
  return new Threads(program, OPTIONS);
}

const THREADS = packingThreads();

/** Ends the threads that are kept for the next run. */
export function endPacking(): Promise<void> {
  return THREADS.endIdle();
}

/** Writes bundles in a separate thread, so that the caller can receive further streams. */
export class Packing {
  readonly #threads: typeof THREADS;
  readonly #closing = new AbortController();
  /** Settles when the last bundle is written. */
  #last: Promise<unknown> = Promise.resolve();
  #packedBytes = 0;

  constructor(threads = THREADS) {
    this.#threads = threads;
    threads.start(1);
  }

  /**
   * Writes a bundle as `writeBundle` does. Packs one bundle at a time, so that one bundle is archived and the next stream
   * received while another is packed. In parallel, streams of similar size would all be received first and then all be
   * packed.
   */
  write(options: BundleOptions): Promise<WrittenBundle> {
    const { signal } = this.#closing;
    const written = this.#last.then(() => this.#threads.ask(options, { signal }));
    const count = ({ bytes }: WrittenBundle) => {
      this.#packedBytes += bytes;
    };
    this.#last = written.then(count, () => {});
    return written;
  }

  /** True if so much was packed that the thread's memory should be freed. */
  get hasPackedMuch(): boolean {
    return this.#packedBytes > KEPT_UP_TO_BYTES;
  }

  /** Ends the packing. A bundle that is being written is abandoned. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(toFailure('it ended'));
    await this.#last;
    if (this.hasPackedMuch) await this.#threads.endIdle();
  }
}
