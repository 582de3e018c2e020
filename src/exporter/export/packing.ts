import { Worker } from 'node:worker_threads';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { programUrl } from '../../core/install-paths.ts';
import type { BundleOptions, WrittenBundle } from '../../verifier/bundle/write.ts';
import type { PackingAnswer, PackingJob } from './packing-thread.ts';

const PROGRAM = programUrl('exporter/export/packing-thread');

/** What is packed passes through buffers outside of it. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2 };

interface Waiting {
  resolve(written: WrittenBundle): void;
  reject(error: unknown): void;
}

/** Has bundles written by a thread of its own, while the one that asks goes on to receive. */
export class Packing {
  readonly #thread: Worker | null;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  /** Why the thread has ended. */
  #end: EvidenceError | null = null;

  constructor(program = PROGRAM) {
    this.#thread = startThread(program);
    this.#thread?.on('message', (answer: PackingAnswer) => this.#settle(answer));
    this.#thread?.on('error', (error) => this.#fail(messageOf(error)));
    this.#thread?.on('exit', () => this.#fail('it ended'));
  }

  /** As `writeBundle`. */
  async write(options: BundleOptions): Promise<WrittenBundle> {
    if (this.#thread === null) return (await import('../../verifier/bundle/write.ts')).writeBundle(options);
    if (this.#end !== null) throw this.#end;
    const job: PackingJob = { id: this.#asked++, options };
    return new Promise<WrittenBundle>((resolve, reject) => {
      this.#waiting.set(job.id, { resolve, reject });
      this.#thread?.postMessage(job);
    });
  }

  /** What is being written then is not finished. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #settle(answer: PackingAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('written' in answer) waiting?.resolve(answer.written);
    else if ('defect' in answer) waiting?.reject(Object.assign(answer.defect as object, answer.refused));
    else {
      const { code, message, details } = answer.failure;
      waiting?.reject(new EvidenceError(code, message, details));
    }
  }

  #fail(reason: string): void {
    this.#end ??= new EvidenceError('archive', `the thread that packs bundles failed: ${reason}`, {
      nextStep: 'What was archived before is kept: run the same command again to resume.',
    });
    for (const { reject } of this.#waiting.values()) reject(this.#end);
    this.#waiting.clear();
  }
}

/** Null where threads are not to be had, e.g. under Node's `--permission`. */
function startThread(program: URL): Worker | null {
  try {
    return new Worker(program, { resourceLimits: HEAP });
  } catch {
    return null;
  }
}
