import type { Worker } from 'node:worker_threads';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import { KeptThreads } from '../../core/kept-threads.ts';
import type { BundleOptions, WrittenBundle } from '../bundle/write.ts';
import type { PackingAnswer, PackingJob } from './packing-thread.ts';

/** The limits of the thread: bundles pass through buffers outside of the heap. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2 };
const THREADS = new KeptThreads(programUrl('exporter/export/packing-thread'), HEAP);

/**
 * The most bytes of bundles after which a thread is kept. Others are ended: they hold memory that the reports of the
 * run need.
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

/** Has bundles written by a thread of its own, while the one that asks goes on to receive. */
export class Packing {
  readonly #kept: KeptThreads;
  readonly #thread: Worker | null;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #packedBytes = 0;
  /** The error that ended the thread. */
  #end: EvidenceError | null = null;

  constructor(kept = THREADS) {
    this.#kept = kept;
    this.#thread = kept.take();
    this.#thread?.on('message', this.#settle).on('error', this.#onError).on('exit', this.#onExit);
  }

  /** As `writeBundle`. */
  async write(options: BundleOptions): Promise<WrittenBundle> {
    if (this.#thread === null) return (await import('../bundle/write.ts')).writeBundle(options);
    if (this.#end !== null) throw this.#end;
    const job: PackingJob = { id: this.#asked++, options };
    return new Promise<WrittenBundle>((resolve, reject) => {
      this.#waiting.set(job.id, { resolve, reject });
      this.#thread?.postMessage(job);
    });
  }

  /** True if so much was written that the run needs the memory of threads. */
  get hasPackedMuch(): boolean {
    return this.#packedBytes > KEPT_UP_TO_BYTES;
  }

  /** Ends the packing. A bundle that is being written then is not finished. */
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
