import type { Database } from '../database/database.ts';
import { Together } from '../database/together.ts';
import { type Recorded, type RecordingMeans, recordUses } from './recording.ts';
import type { TrapUse } from './use.ts';
import type { DetectionsVersion } from './version.ts';

/** Takes what channels see, and records it: what arrives while others are written shares a transaction. */
export class Uses {
  readonly #together: Together<TrapUse, Recorded | null>;
  readonly #version: DetectionsVersion;
  /** What was recorded since this process began. */
  readonly done = { occurrences: 0, detections: 0 };

  constructor(database: Database, means: RecordingMeans, version: DetectionsVersion) {
    this.#together = new Together(database, (transaction, uses) => recordUses(transaction, means, uses));
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

  /** Resolves when nothing waits and nothing is written. */
  settled(): Promise<void> {
    return this.#together.settled();
  }
}
