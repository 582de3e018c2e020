import type { EndpointLine } from '../../sensor/report/line.ts';
import type { BaitEventType, ChainEventType, EventSeverity, PathEventType } from './enums.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** A clock that is off by more is an event. */
export const CLOCK_OFF_MS = HOUR_MS;

/** For how long back missed scans are counted. */
export const MISSED_WITHIN_MS = DAY_MS;

/** Files that decide who gets in, or that run before everything else. */
const CRITICAL_PATHS = [
  /\/(sshd|sshd-session|sshd-auth|sudo|sudoedit|su|login|runuser|pkexec|unix_chkpwd|agetty|init)$/,
  /\/(pam_[^/]*\.so|libpam[^/]*\.so)([.\d]*)$/,
  /\/(ld-linux[^/]*|ld-musl[^/]*|ld\.so[^/]*|ld-[\d.]+\.so)$/,
  /\/systemd(-[^/]*)?$/,
  /\/evidence-platform$/,
];

/** Folders where root's shell looks for programs. */
const ROOTS_PATH = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;

const SET_ID = 0o6000;

/** True if whoever starts the file becomes another user. */
function isSetId(line: EndpointLine | null): boolean {
  return line?.type === 'file' && (Number.parseInt(line.mode, 8) & SET_ID) !== 0;
}

/** A difference at a path: the baseline's line and the observed one. */
export interface Difference {
  /** Null where the baseline has nothing at the path. */
  expected: EndpointLine | null;
  /** Null where nothing stood there. */
  observed: EndpointLine | null;
}

/** The type of a difference. */
export function typeOf({ expected, observed }: Difference): PathEventType {
  if (observed === null) return 'binary_removed';
  if (observed.type === 'unreadable' || observed.type === 'other') return 'binary_unreadable';
  if (observed.type === 'unstable') return 'binary_unstable';
  if (expected === null) return 'binary_added';
  // A file that was unreadable when the baseline was made was never approved.
  if (['unreadable', 'other', 'unstable'].includes(expected.type)) return 'binary_modified';
  if (expected.type !== observed.type) return 'file_type_changed';
  return contentOf(expected) === contentOf(observed) ? 'attributes_changed' : 'binary_modified';
}

function contentOf(line: EndpointLine): string {
  if (line.type === 'file') return line.sha256;
  if (line.type === 'link') return line.target ?? `base64:${line.target_base64}`;
  return line.type === 'device' ? line.device : line.type;
}

const BY_TYPE: Record<PathEventType, EventSeverity> = {
  binary_modified: 'high',
  file_type_changed: 'high',
  binary_unstable: 'high',
  binary_added: 'medium',
  binary_removed: 'medium',
  attributes_changed: 'medium',
  binary_unreadable: 'medium',
};

/** Rates a difference without an explanation. @param path as text; a path that is not UTF-8 in any. */
export function severityOfDifference(path: string, { expected, observed }: Difference): EventSeverity {
  const type = typeOf({ expected, observed });
  if (CRITICAL_PATHS.some((pattern) => pattern.test(path)) || isSetId(expected)) return 'critical';
  if (type === 'binary_added') return isSetId(observed) || ROOTS_PATH.test(path) ? 'high' : 'medium';
  return isSetId(observed) ? 'critical' : BY_TYPE[type];
}

const BY_CHAIN_TYPE: Record<Exclude<ChainEventType, 'clock_jump'>, EventSeverity> = {
  report_repeated: 'medium',
  report_gap: 'high',
  report_signature: 'high',
  snapshot_restored: 'high',
  stale: 'high',
  key_changed: 'critical',
  report_fork: 'critical',
};

/** Somebody took away what is to catch them, or had it in hand. */
export const SEVERITY_OF_BAIT: Record<BaitEventType, EventSeverity> = { bait_missing: 'high', bait_changed: 'high' };

export function severityOfChain(type: Exclude<ChainEventType, 'clock_jump'>): EventSeverity {
  return BY_CHAIN_TYPE[type];
}

/** The distance between the time of a scan and a clock, in ms; 0 if the clock stood within it. */
export function clockOff({ started_at, finished_at }: { started_at: string; finished_at: string }, now: Date): number {
  return Math.max(0, Date.parse(started_at) - now.getTime(), now.getTime() - Date.parse(finished_at));
}

export function severityOfClock(offMs: number): EventSeverity {
  return offMs < DAY_MS ? 'low' : 'high';
}

/**
 * Counts the scans missed between reports.
 * @param reports when they were received, in order, from the last one before the time that is counted on.
 */
export function missedScans(reports: readonly Date[], now: Date, intervalSeconds: number): number {
  const times = [...reports, now].map((time) => time.getTime());
  let missed = 0;
  for (const [at, time] of times.entries()) {
    const before = times[at - 1];
    // Sensors begin a little earlier or later each time.
    if (before !== undefined) missed += Math.max(0, Math.round((time - before) / (intervalSeconds * 1000)) - 1);
  }
  return missed;
}
