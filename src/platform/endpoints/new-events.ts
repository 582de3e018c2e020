import { randomUUID } from 'node:crypto';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import type { EndpointLine, FileLine } from '../../sensor/report/line.ts';
import type { Reader } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { type KnownChange, type NewEndpointEvent, pathKey } from './event-rows.ts';
import type { PathDifference } from './lines/comparing.ts';
import { type ChangedFile, explainingPackages, type SignedPackage } from './packages/known-files.ts';
import type { Attributes } from './packages/repository.ts';
import { severityOfDifference, typeOf } from './rules.ts';
import type { Explanation } from './wire/events.ts';

export const UNEXPLAINED: Explanation = { kind: 'none' };

/** Explains differences, in order, by signed packages that contain the same file at the same path. */
export async function explainDifferences(
  reader: Reader,
  differences: readonly PathDifference[],
): Promise<Explanation[]> {
  const changed = differences.map(toChangedFile);
  const asked = changed.filter((file) => file !== null);
  const found = (await explainingPackages(reader, asked)).values();
  return changed.map((file) => toExplanation(file === null ? null : found.next().value));
}

/**
 * Converts a difference for the lookup; null if no package could explain it, because there is no file or its name is
 * not UTF-8.
 */
function toChangedFile({ path: { path }, expected, observed }: PathDifference): ChangedFile | null {
  if (path === undefined || observed?.type !== 'file') return null;
  return { path, observed: toStanding(observed), expected: isFile(expected) ? toStanding(expected) : null };
}

function isFile(line: EndpointLine | null): line is FileLine {
  return line?.type === 'file';
}

function toStanding({ sha256, mode, uid, gid }: FileLine): Attributes & { sha256: string } {
  return { sha256, mode: Number.parseInt(mode, 8), uid, gid };
}

function toExplanation(found: SignedPackage | null | undefined): Explanation {
  if (!found) return UNEXPLAINED;
  return { kind: 'signed_package', ...pick(found, ['name', 'version', 'archive', 'signed_by']) };
}

/** Reports whether an explanation lowers the severity of an event. */
function isVouchedFor({ kind }: Explanation): boolean {
  return kind === 'signed_package' || kind === 'approved_change';
}

/** Context of a difference. */
interface EventFacts {
  endpoint_no: number;
  scan_no: number;
  baseline_no: number;
  /** Change window that quiets the event. */
  window_no: number | null;
  now: string;
}

/** Returns the event of a difference at a path. */
export function eventOfDifference(
  { path, ...difference }: PathDifference,
  { endpoint_no, scan_no, baseline_no, window_no, now }: EventFacts,
  explanation: Explanation,
): NewEndpointEvent {
  const { expected, observed } = difference;
  const plain_severity = severityOfDifference(pathKey(path), difference);
  return {
    ...newEvent(endpoint_no, now),
    scan_no,
    baseline_no,
    window_no,
    event_type: typeOf(difference),
    plain_severity,
    path: path.path ?? null,
    path_base64: path.path_base64 ?? null,
    expected_sha256: digestOf(expected),
    observed_sha256: digestOf(observed),
    expected: textOf(expected),
    observed: textOf(observed),
    explanation: canonicalize(explanation),
    severity: isVouchedFor(explanation) ? 'low' : plain_severity,
    status: window_no === null ? 'open' : 'quieted',
  };
}

/** Returns an event with only its endpoint set. */
export function newEvent(endpoint_no: number, now: string): NewEndpointEvent {
  return {
    event_id: randomUUID(),
    endpoint_no,
    change_no: null,
    window_no: null,
    scan_no: null,
    baseline_no: null,
    event_type: 'stale',
    severity: 'low',
    plain_severity: 'low',
    path: null,
    path_base64: null,
    expected_sha256: null,
    observed_sha256: null,
    expected: null,
    observed: null,
    explanation: canonicalize(UNEXPLAINED),
    status: 'open',
    occurrences: 1,
    first_seen: now,
    last_seen: now,
    resolved_at: null,
    acknowledged_by: null,
    acknowledged_at: null,
    alert_state: 'none',
    alerted_by: null,
    entry_sequence: 0,
    entry_hash: '',
  };
}

/** Links an event to the same change on other endpoints, and applies an earlier approval of the change. */
export function joinChange(event: NewEndpointEvent, change: KnownChange | undefined): void {
  if (change === undefined) return;
  event.change_no = change.change_no;
  if (change.approved_at === null) return;
  event.explanation = canonicalize({ kind: 'approved_change', id: change.change_id });
  event.severity = 'low';
}

/** Returns the metadata of an event's entry. */
export function toMetadata(event: NewEndpointEvent): Json {
  const { path, path_base64 } = event;
  const place = path === null && path_base64 === null ? {} : path === null ? { path_base64 } : { path };
  const said = pick(event, ['event_id', 'event_type', 'severity', 'status', 'expected_sha256', 'observed_sha256']);
  const unseen = { acknowledged_by: null, acknowledged_at: null, resolved_at: null };
  const explanation = JSON.parse(event.explanation) as Json;
  return { ...said, ...place, first_seen: event.first_seen, explanation, ...unseen };
}

function digestOf(line: EndpointLine | null): string | null {
  return line?.type === 'file' ? line.sha256 : null;
}

function textOf(line: EndpointLine | null): string | null {
  return line === null ? null : canonicalize(line);
}
