import type { Worker } from 'node:worker_threads';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import { KeptThreads } from '../../core/kept-threads.ts';
import type { BundleOptions, WrittenBundle } from '../bundle/write.ts';
import type { PackingAnswer, PackingJob } from './packing-thread.ts';

/** Heap limits of the thread. Bundles pass through buffers outside the heap. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2 };
const THREADS = new KeptThreads(programUrl('exporter/export/packing-thread'), HEAP);

/**
 * Maximum total size of packed bundles for which a thread is kept. Beyond it, the thread holds memory that the run's
 * reports need.
 */
const KEPT_UP_TO_BYTES = 4 * 2 ** 20;

/** Ends the thread that is kept for the next run. */
export function endPacking(): Promise<void> {
  return THREADS.end();
}

interface Waiting {
  resolve(written: WrittenBundle): void;
  reject(error: unknown): void;
}

/** Writes bundles in a separate thread, so that the caller can receive further streams. */
export class Packing {
  readonly #kept: KeptThreads;
  readonly #thread: Worker | null;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #packedBytes = 0;
  /** Error that ended the thread. */
  #end: EvidenceError | null = null;

  constructor(kept = THREADS) {
    this.#kept = kept;
    this.#thread = kept.take();
    this.#thread?.on('message', this.#settle).on('error', this.#onError).on('exit', this.#onExit);
  }

  /** Writes a bundle as `writeBundle` does. */
  async write(options: BundleOptions): Promise<WrittenBundle> {
    if (this.#thread === null) return (await import('../bundle/write.ts')).writeBundle(options);
    if (this.#end !== null) throw this.#end;
    const job: PackingJob = { id: this.#asked++, options };
    return new Promise<WrittenBundle>((resolve, reject) => {
      this.#waiting.set(job.id, { resolve, reject });
      this.#thread?.postMessage(job);
    });
  }

  /** True if so much was packed that the thread's memory should be freed. */
  get hasPackedMuch(): boolean {
    return this.#packedBytes > KEPT_UP_TO_BYTES;
  }

  /** Ends the packing. A bundle that is being written is abandoned. */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread === null || this.#end !== null) return;
    if (this.#waiting.size > 0 || this.hasPackedMuch) {
      await thread.terminate();
      return;
    }
    this.#fail('it ended');
    thread.off('message', this.#settle).off('error', this.#onError).off('exit', this.#onExit);
    this.#kept.keep(thread);
  }

  readonly #onError = (error: unknown) => this.#fail(messageOf(error));
  readonly #onExit = () => this.#fail('it ended');

  readonly #settle = (answer: PackingAnswer): void => {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('written' in answer) {
      this.#packedBytes += answer.written.bytes;
      waiting?.resolve(answer.written);
    } else if ('defect' in answer) waiting?.reject(Object.assign(answer.defect as object, answer.refused));
    else {
      const { code, message, details } = answer.failure;
      waiting?.reject(new EvidenceError(code, message, details));
    }
  };

  #fail(reason: string): void {
    this.#end ??= new EvidenceError('archive', `the thread that packs bundles failed: ${reason}`, {
      nextStep: 'What was archived before is kept: run the same command again to resume.',
    });
    for (const { reject } of this.#waiting.values()) reject(this.#end);
    this.#waiting.clear();
  }
}
