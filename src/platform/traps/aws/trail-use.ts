import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { TrapUse } from '../use.ts';
import { depthOfAwsAction } from './depth.ts';
import type { TrailRecord } from './trail-records.ts';

const text = z.string().min(1).nullish().catch(null);

/** The fields read from an event. A missing or malformed one does not cost the others. */
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
export type TrailEvent = z.output<typeof eventSchema>;

/** By these AWS says that a signature was wrong. */
const NOT_AUTHENTICATED = /SignatureDoesNotMatch|InvalidSignature|IncompleteSignature|AuthFailure/;

const KEY_MEMBER = Buffer.from('"accessKeyId"');

/** An event by an access key; null for any other. */
export function toTrailEvent(record: TrailRecord): TrailEvent | null {
  if (!record.includes(KEY_MEMBER)) return null;
  let json: unknown;
  try {
    json = JSON.parse(record.toString('utf8'));
  } catch {
    return null;
  }
  return eventSchema.safeParse(json).data ?? null;
}

/** Reads from an event how somebody used a trap. */
export function useOfEvent(event: TrailEvent, record: TrailRecord, trapNo: number, now: Date): TrapUse {
  const { eventID, eventTime, eventSource, eventName, awsRegion, sourceIPAddress, userAgent, errorCode } = event;
  const service = eventSource?.replace(/\.amazonaws\.com$/, '') ?? null;
  const action = eventName == null ? null : service === null ? eventName : `${service}:${eventName}`;
  return {
    trapNo,
    channel: 'aws_cloudtrail',
    depth: depthOfAwsAction(action),
    eventTime: (eventTime == null ? now : new Date(eventTime)).toISOString(),
    sourceEventId: eventID ?? hash('sha256', record, 'hex'),
    // AWS writes the name of a service of its own in the place of an address.
    sourceIp: sourceIPAddress != null && isIP(sourceIPAddress) !== 0 ? sourceIPAddress : null,
    userAgent: userAgent ?? null,
    action,
    service,
    region: awsRegion ?? null,
    // AWS logs requests of whoever it knows.
    authVerified: !NOT_AUTHENTICATED.test(errorCode ?? ''),
    request: record,
  };
}
