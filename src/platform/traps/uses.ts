import type { Database, Transaction } from '../database/database.ts';
import { Together } from '../database/together.ts';
import { type Recorded, type RecordingDeps, recordUses } from './recording.ts';
import type { TrapUse } from './use.ts';
import type { DetectionsVersion } from './version.ts';

/** Takes what channels see, and records it: what arrives while others are written shares a transaction. */
export class Uses {
  readonly #together: Together<TrapUse, Recorded | null>;
  readonly #deps: RecordingDeps;
  readonly #version: DetectionsVersion;
  /** Counts of records since this process began. */
  readonly done = { occurrences: 0, detections: 0 };

  constructor(database: Database, deps: RecordingDeps, version: DetectionsVersion) {
    this.#together = new Together(database, (transaction, uses) => recordUses(transaction, deps, uses));
    this.#deps = deps;
    this.#version = version;
  }

  /** @returns what it led to; null for an event that was recorded before. */
  async record(use: TrapUse): Promise<Recorded | null> {
    const recorded = await this.#together.do(use);
    this.#version.changed();
    if (recorded !== null) this.done.occurrences++;
    if (recorded?.isNew === true) this.done.detections++;
    return recorded;
  }

  /**
   * Records uses in the transaction of what else they led to. It takes the number of a change and the head of the
   * stream `traps`: it comes after whatever the transaction locks besides, and before entries of other streams.
   */
  recordIn(transaction: Transaction, uses: readonly TrapUse[]): Promise<(Recorded | null)[]> {
    return recordUses(transaction, this.#deps, uses);
  }

  /** Resolves when nothing waits and nothing is written. */
  settled(): Promise<void> {
    return this.#together.settled();
  }
}
