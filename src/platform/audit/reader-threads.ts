import { availableParallelism } from 'node:os';
import { programUrl } from '../../core/install-paths.ts';
import type { Database } from '../database/database.ts';
import { ThreadPool } from '../threads/pool.ts';
import type { StreamInspection } from './inspection.ts';
import type { PackageOrder, PackageRow } from './packing.ts';
import type { ReaderPlace, ReadingTask } from './reader-thread.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import type { Overview } from './stats.ts';
import type { AuditActivity, EntriesQuery, WireStats } from './wire.ts';

const PROGRAM = programUrl('platform/audit/reader-thread');

/** A core is left to the thread that answers and appends. */
const READERS = Math.min(4, Math.max(1, availableParallelism() - 1));
const READER_HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 };
const READER_IDLE_MS = 60_000;

/** Fonts and pages of a document are large, and few are asked for at a time. */
const PRINTER_HEAP = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const PRINTER_IDLE_MS = 10_000;

/** Work that takes long, done by threads that read the database: who appends does not wait for it. */
export class ReaderThreads {
  readonly #reading: ThreadPool<ReadingTask>;
  readonly #printing: ThreadPool<ReadingTask>;

  constructor({ address }: Database, keys: DerivedSealKeys) {
    const workerData: ReaderPlace = { address, masterKey: keys.forThread() };
    const reading = { most: READERS, idleMs: READER_IDLE_MS, resourceLimits: READER_HEAP };
    const printing = { most: 1, idleMs: PRINTER_IDLE_MS, resourceLimits: PRINTER_HEAP };
    this.#reading = new ThreadPool(PROGRAM, { ...reading, workerData });
    this.#printing = new ThreadPool(PROGRAM, { ...printing, workerData });
  }

  inspect(streamId: string, signal: AbortSignal): Promise<StreamInspection> {
    return this.#reading.run({ read: 'stream', streamId }, signal);
  }

  /** As `listEntries`. */
  entries(query: EntriesQuery, signal: AbortSignal): Promise<Uint8Array> {
    return this.#reading.run({ read: 'entries', query }, signal);
  }

  stats(now: Date, signal: AbortSignal): Promise<WireStats> {
    return this.#reading.run({ read: 'stats', now }, signal);
  }

  activity(now: Date, signal: AbortSignal): Promise<AuditActivity> {
    return this.#reading.run({ read: 'activity', now }, signal);
  }

  overview(signal: AbortSignal): Promise<Overview> {
    return this.#reading.run({ read: 'overview' }, signal);
  }

  settle(order: PackageOrder, signal: AbortSignal): Promise<PackageRow> {
    return this.#reading.run({ read: 'package', order }, signal);
  }

  /** In pieces; a piece is read when it is wanted. */
  json(row: PackageRow, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    return this.#reading.values({ read: 'package-json', row }, signal);
  }

  print(row: PackageRow, signal: AbortSignal): Promise<Uint8Array> {
    return this.#printing.run({ read: 'package-pdf', row }, signal);
  }

  /** Tasks under way, by what they are for. */
  get busy(): { reading: number; printing: number } {
    return { reading: this.#reading.busy, printing: this.#printing.busy };
  }

  async close(): Promise<void> {
    await this.#reading.close();
    await this.#printing.close();
  }
}
