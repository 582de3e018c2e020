import { hash } from 'node:crypto';
import { isLess } from '../alert-enums.ts';
import type { OwnEntry } from '../audit/api.ts';
import { deepenedEntry, detectedEntry, tracedEntry } from './entries.ts';
import type { Detection, Occurrence, Trap } from './repository.ts';
import { isDeeper, severityOf } from './rules.ts';
import type { TrapUse } from './use.ts';

/** A detection that is new, or changed. */
export interface Touched {
  detection: Detection;
  trap: Trap;
  isNew: boolean;
  /** Somebody went further than before. */
  deepened: boolean;
  /** Its severity rose, or somebody showed for the first time that they have the secret. */
  worsened: boolean;
  /** True if the use names somebody who was unknown before. */
  traced: boolean;
  occurrences: Occurrence[];
}

/** The facts of a use, as its channel reports them. */
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

/** The entry in the stream `traps`. */
export function entryOfTouched({ detection, trap, isNew, traced }: Touched): OwnEntry {
  if (isNew) return detectedEntry(detection, trap);
  return traced ? tracedEntry(detection, trap) : deepenedEntry(detection, trap);
}

/** Has a detection last from its first to its last use. */
export function widen(detection: Detection, eventTime: string): void {
  if (eventTime < detection.first_seen) detection.first_seen = eventTime;
  if (eventTime > detection.last_seen) detection.last_seen = eventTime;
}

/** Counts a use of a detection that goes on. */
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
  // Once somebody has the secret, they have it.
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
