import { setImmediate } from 'node:timers/promises';
import type { Database, Transaction } from '../database/database.ts';
import { type Recorded, type RecordingMeans, recordUses } from './recording.ts';
import type { TrapUse } from './use.ts';
import type { DetectionsVersion } from './version.ts';

/** Uses that share a transaction. */
const MOST_TOGETHER = 500;

interface Waiting {
  use: TrapUse;
  resolve(recorded: Recorded | null): void;
  reject(error: unknown): void;
}

/**
 * Takes what channels see, and records it. Uses that arrive while others are written share a transaction; each is
 * acknowledged after its commit.
 */
export class Uses {
  readonly #database: Database;
  readonly #means: RecordingMeans;
  readonly #version: DetectionsVersion;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  /** What was recorded since this process began. */
  readonly done = { occurrences: 0, detections: 0 };

  constructor(database: Database, means: RecordingMeans, version: DetectionsVersion) {
    this.#database = database;
    this.#version = version;
    this.#means = means;
  }

  /** @returns what it led to; null for an event that was recorded before. */
  record(use: TrapUse): Promise<Recorded | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ use, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Records uses in the transaction of what else they led to. It takes the number of a change and the head of the stream
   * `traps`: it comes after whatever the transaction locks besides, and before entries of other streams.
   */
  recordIn(transaction: Transaction, uses: readonly TrapUse[]): Promise<(Recorded | null)[]> {
    return recordUses(transaction, this.#means, uses);
  }

  /** Resolves when nothing waits and nothing is written. */
  async settled(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async #writeAll(): Promise<void> {
    await setImmediate();
    while (this.#waiting.length > 0) {
      const together = this.#waiting.slice(0, MOST_TOGETHER);
      this.#waiting = this.#waiting.slice(MOST_TOGETHER);
      await this.#write(together);
    }
    // In the same turn as the last look: whoever comes now begins anew.
    this.#writing = null;
  }

  /** One by one where together they fail: one of them may be why. */
  async #write(together: readonly Waiting[]): Promise<void> {
    try {
      const uses = together.map(({ use }) => use);
      const recorded = await this.#database.write((transaction) => recordUses(transaction, this.#means, uses));
      for (const [at, waiting] of together.entries()) waiting.resolve(this.#counted(recorded[at] ?? null));
    } catch (error) {
      const [only] = together;
      if (together.length === 1) only?.reject(error);
      else for (const waiting of together) await this.#write([waiting]);
    }
  }

  #counted(recorded: Recorded | null): Recorded | null {
    this.#version.changed();
    if (recorded !== null) this.done.occurrences++;
    if (recorded?.isNew === true) this.done.detections++;
    return recorded;
  }
}
