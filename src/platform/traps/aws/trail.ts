import type { Database } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { TrapMarks } from '../marks.ts';
import { noteReport } from '../repository.ts';
import type { Uses } from '../uses.ts';
import { type NamedLogFiles, readTrail, type TrailLimits, type TrailRecord } from './trail-records.ts';
import { type TrailEvent, toTrailEvent, useOfEvent } from './trail-use.ts';

/** The result of a delivery of events. */
export interface TrailTally {
  /** All that it had. */
  events: number;
  /** Those that are uses of traps. */
  matched: number;
  /** Events that were recorded before. */
  known: number;
}

export interface TrailDeps {
  database: Database;
  marks: TrapMarks;
  uses: Uses;
  clock: () => Date;
  /** Reads files of the bucket of a trail; null where the settings name none. */
  readFiles: ((files: NamedLogFiles) => Promise<TrailTally>) | null;
}

/** Finds the uses of traps among the events of CloudTrail. */
export class Trail {
  readonly #deps: TrailDeps;

  constructor(deps: TrailDeps) {
    this.#deps = deps;
  }

  /**
   * Records what a delivery has of traps, while it arrives. Each event is recorded once, however often it is delivered.
   * @throws HttpProblem as `readTrail`: what came before stays recorded; DomainError `conflict` for files that cannot be read.
   */
  async take(body: AsyncIterable<Uint8Array>, limits?: TrailLimits): Promise<TrailTally> {
    const tally = { events: 0, matched: 0, known: 0 };
    /** By access key id; null for one that is no trap. */
    const traps = new Map<string, number | null>();
    for await (const found of readTrail(body, limits)) {
      if (!Array.isArray(found)) return this.#takeFiles(found as NamedLogFiles);
      tally.events += found.length;
      await this.#record(found, traps, tally);
    }
    const { database, clock } = this.#deps;
    if (tally.events > 0) await noteReport(database, 'aws_cloudtrail', clock());
    return tally;
  }

  #takeFiles(files: NamedLogFiles): Promise<TrailTally> {
    const { readFiles } = this.#deps;
    if (readFiles !== null) return readFiles(files);
    const reason = `log files lie in the bucket ${files.bucket}, and the settings have no cloudtrail.bucket to read them from`;
    throw new DomainError('conflict', reason);
  }

  async #record(records: readonly TrailRecord[], traps: Map<string, number | null>, tally: TrailTally): Promise<void> {
    const { database, marks, uses, clock } = this.#deps;
    const events = records
      .map((record) => ({ record, event: toTrailEvent(record) }))
      .filter((each): each is { record: TrailRecord; event: TrailEvent } => each.event !== null);
    const ids = new Set(events.map(({ event }) => event.userIdentity.accessKeyId));
    const unknown = [...ids].filter((id) => !traps.has(id));
    if (unknown.length > 0) {
      const found = await marks.findEach(database, 'aws_access_key_id', unknown);
      for (const id of unknown) traps.set(id, found.get(id) ?? null);
    }
    const recorded = events.map(async ({ record, event }) => {
      const trapNo = traps.get(event.userIdentity.accessKeyId) ?? null;
      if (trapNo === null) return;
      tally.matched++;
      if ((await uses.record(useOfEvent(event, record, trapNo, clock()))) === null) tally.known++;
    });
    await Promise.all(recorded);
  }
}
