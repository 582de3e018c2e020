import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Database } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Uses } from '../recording.ts';
import { noteReport } from '../repository.ts';
import type { TrapUse } from '../use.ts';
import type { TrapMarks } from '../vault.ts';
import type { TrailTally } from '../wire.ts';
import { depthOfAwsAction } from './access-key.ts';
import { type NamedLogFiles, readTrail, type TrailLimits, type TrailRecord } from './trail-records.ts';

interface TrailDeps {
  database: Database;
  marks: TrapMarks;
  uses: Uses;
  clock: () => Date;
  /** Reads files of a trail's bucket; null if the settings have none. */
  readFiles: ((files: NamedLogFiles) => Promise<TrailTally>) | null;
}

/** Finds the uses of traps among CloudTrail events. */
export class Trail {
  readonly #deps: TrailDeps;

  constructor(deps: TrailDeps) {
    this.#deps = deps;
  }

  /**
   * Records the uses of traps in a delivery while it arrives. Each event is recorded once, even if it is delivered
   * repeatedly.
   * @throws HttpProblem as `readTrail`, with the events before the error recorded; DomainError `conflict` if files
   * cannot be read.
   */
  async take(body: AsyncIterable<Uint8Array>, limits?: TrailLimits): Promise<TrailTally> {
    const tally = { events: 0, matched: 0, known: 0 };
    /** Numbers of traps by access key id; null for a key that is not a trap. */
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

const text = z.string().min(1).nullish().catch(null);

/** Fields read from an event. A missing or malformed field does not affect the others. */
const eventSchema = z.object({
  userIdentity: z.object({ accessKeyId: z.string().min(1) }),
  eventID: text,
  eventTime: z.iso.datetime({ offset: true }).nullish().catch(null),
  eventSource: text,
  eventName: text,
  awsRegion: text,
  sourceIPAddress: text,
  userAgent: text,
  errorCode: text,
});
type TrailEvent = z.output<typeof eventSchema>;

/** Error codes with which AWS reports a wrong signature. */
const NOT_AUTHENTICATED = /SignatureDoesNotMatch|InvalidSignature|IncompleteSignature|AuthFailure/;

const KEY_MEMBER = Buffer.from('"accessKeyId"');

/** Reads an event made with an access key; null for any other event. */
function toTrailEvent(record: TrailRecord): TrailEvent | null {
  if (!record.includes(KEY_MEMBER)) return null;
  let json: unknown;
  try {
    json = JSON.parse(record.toString('utf8'));
  } catch {
    return null;
  }
  return eventSchema.safeParse(json).data ?? null;
}

/** Converts an event to the use of a trap. */
function useOfEvent(event: TrailEvent, record: TrailRecord, trapNo: number, now: Date): TrapUse {
  const { eventID, eventTime, eventSource, eventName, awsRegion, sourceIPAddress, userAgent, errorCode } = event;
  const service = eventSource?.replace(/\.amazonaws\.com$/, '') ?? null;
  const action = eventName == null ? null : service === null ? eventName : `${service}:${eventName}`;
  return {
    trapNo,
    channel: 'aws_cloudtrail',
    depth: depthOfAwsAction(action),
    eventTime: (eventTime == null ? now : new Date(eventTime)).toISOString(),
    sourceEventId: eventID ?? hash('sha256', record, 'hex'),
    // AWS writes the name of one of its services instead of an address for calls by that service.
    sourceIp: sourceIPAddress != null && isIP(sourceIPAddress) !== 0 ? sourceIPAddress : null,
    userAgent: userAgent ?? null,
    action,
    service,
    region: awsRegion ?? null,
    // AWS only logs requests of identities that it knows.
    authVerified: !NOT_AUTHENTICATED.test(errorCode ?? ''),
    request: record,
  };
}
