import { availableParallelism } from 'node:os';
import { programUrl } from '../../core/install-paths.ts';
import type { ErrorValue } from '../../core/threads/messages.ts';
import { Threads } from '../../core/threads/threads.ts';
import type { Database } from '../database/database.ts';
import { type DomainCode, DomainError } from '../errors.ts';
import type { PackageRow } from './packing.ts';
import type { ReaderPlace, ReadingTask, Reads } from './reader-thread.ts';
import type { DerivedSealKeys } from './seal-keys.ts';

const PROGRAM = programUrl('platform/audit/reader-thread');

/** Leaves one core to the thread that answers and appends. */
const READERS = Math.min(4, Math.max(1, availableParallelism() - 1));
const READER_HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 };
const READER_IDLE_MS = 60_000;

/** Fonts and pages of a document need much memory, and few documents are requested at a time. */
const PRINTER_HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const PRINTER_IDLE_MS = 10_000;

/** Runs long reads in threads of their own, so that appends need not wait for them. */
export class ReaderThreads {
  readonly #reading: Threads<ReadingTask, unknown>;
  readonly #printing: Threads<ReadingTask, unknown>;

  constructor({ address }: Database, keys: DerivedSealKeys) {
    const workerData: ReaderPlace = { address, masterKey: keys.forThread() };
    const reading = { most: READERS, idleMs: READER_IDLE_MS, resourceLimits: READER_HEAP };
    const printing = { most: 1, idleMs: PRINTER_IDLE_MS, resourceLimits: PRINTER_HEAP };
    this.#reading = new Threads(PROGRAM, { ...reading, workerData, toOwnError: toRefusal });
    this.#printing = new Threads(PROGRAM, { ...printing, workerData, toOwnError: toRefusal });
  }

  /** Runs a read of `reader-thread.ts`. */
  read<Name extends Exclude<keyof Reads, 'json'>>(
    read: Name,
    of: Parameters<Reads[Name]>[0],
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<Reads[Name]>>> {
    const threads = read === 'print' ? this.#printing : this.#reading;
    return threads.ask({ read, of }, { signal });
  }

  /** Yields the JSON in pieces; a piece is read on demand. */
  json(row: PackageRow, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.#reading.values({ read: 'json', of: row }, { signal });
  }

  /** Number of running tasks by kind of thread. */
  get busy(): { reading: number; printing: number } {
    return { reading: this.#reading.busy, printing: this.#printing.busy };
  }

  async close(): Promise<void> {
    await this.#reading[Symbol.asyncDispose]();
    await this.#printing[Symbol.asyncDispose]();
  }
}

function toRefusal({ name, message, members }: ErrorValue): DomainError | null {
  const { code, field } = members;
  return name === 'DomainError'
    ? new DomainError(code as DomainCode, message, {}, field === undefined ? null : String(field))
    : null;
}
