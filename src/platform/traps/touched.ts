import { hash } from 'node:crypto';
import { isLess } from '../alert-enums.ts';
import type { OwnEntry } from '../audit/api.ts';
import { deepenedEntry, detectedEntry, tracedEntry } from './entries.ts';
import type { Detection, Occurrence, Trap } from './repository.ts';
import { isDeeper, severityOf } from './rules.ts';
import type { TrapUse } from './use.ts';

/** New or changed detection. */
export interface Touched {
  detection: Detection;
  trap: Trap;
  isNew: boolean;
  /** True if a use went deeper than before. */
  deepened: boolean;
  /** True if the severity rose, or a use showed possession of the secret for the first time. */
  worsened: boolean;
  /** True if the use reveals a source that was unknown before. */
  traced: boolean;
  occurrences: Occurrence[];
}

/** Returns the facts of a use, as its channel reports them. */
export function useFacts(use: TrapUse) {
  return {
    channel: use.channel,
    source_event_id: use.sourceEventId,
    source_ip: use.sourceIp,
    user_agent: use.userAgent,
    action: use.action,
    service: use.service,
    region: use.region,
    event_time: use.eventTime,
  };
}

/** Returns the entry of the stream `traps` for a detection. */
export function entryOfTouched({ detection, trap, isNew, traced }: Touched): OwnEntry {
  if (isNew) return detectedEntry(detection, trap);
  return traced ? tracedEntry(detection, trap) : deepenedEntry(detection, trap);
}

/** Extends a detection to include the time of a use. */
export function widen(detection: Detection, eventTime: string): void {
  if (eventTime < detection.first_seen) detection.first_seen = eventTime;
  if (eventTime > detection.last_seen) detection.last_seen = eventTime;
}

/** Adds a use to an ongoing detection. */
export function addTo(known: Touched, use: TrapUse): void {
  const { detection } = known;
  detection.occurrences += 1;
  widen(detection, use.eventTime);
  if (isDeeper(use.depth, detection.depth)) {
    known.deepened = true;
    detection.depth = use.depth;
    detection.action = use.action;
  }
  const severity = severityOf(use);
  if (isLess(detection.severity, severity)) {
    detection.severity = severity;
    known.worsened = true;
  }
  // Possession of the secret is never taken back.
  if (use.authVerified === true && detection.auth_verified !== 1) {
    detection.auth_verified = 1;
    known.worsened = true;
  }
  detection.settled_at = null;
  known.occurrences.push(occurrenceOf(use, detection.occurrences));
}

export function occurrenceOf(use: TrapUse, number: number): Occurrence {
  return {
    number,
    event_time: use.eventTime,
    depth: use.depth,
    action: use.action,
    source_event_id: use.sourceEventId,
    request_sha256: hash('sha256', use.request, 'hex'),
  };
}
