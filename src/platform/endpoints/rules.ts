import type { EndpointLine } from '../../sensor/report/line.ts';
import type { BaitEventType, ChainEventType, EventSeverity, PathEventType } from './enums.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Clock skew above which an event is raised. */
export const CLOCK_OFF_MS = HOUR_MS;

/** Period over which missed scans are counted. */
export const MISSED_WITHIN_MS = DAY_MS;

/** Files that control logins, or that run before everything else. */
const CRITICAL_PATHS = [
  /\/(sshd|sshd-session|sshd-auth|sudo|sudoedit|su|login|runuser|pkexec|unix_chkpwd|agetty|init)$/,
  /\/(pam_[^/]*\.so|libpam[^/]*\.so)([.\d]*)$/,
  /\/(ld-linux[^/]*|ld-musl[^/]*|ld\.so[^/]*|ld-[\d.]+\.so)$/,
  /\/systemd(-[^/]*)?$/,
  /\/evidence-platform$/,
];

/** Programs in the folders of root's PATH. */
const ROOTS_PATH = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;

const SET_ID = 0o6000;

/** Reports whether the file has setuid or setgid. */
function isSetId(line: EndpointLine | null): boolean {
  return line?.type === 'file' && (Number.parseInt(line.mode, 8) & SET_ID) !== 0;
}

/** Difference at a path: the baseline's line and the observed one. */
export interface Difference {
  /** Line of the baseline; null if it has none at the path. */
  expected: EndpointLine | null;
  /** Observed line; null if there was nothing at the path. */
  observed: EndpointLine | null;
}

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

/** Rates a difference without an explanation. @param path as text; for a path that is not UTF-8, in any form. */
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

/** High severity, because an attacker may have found and handled the bait. */
export const SEVERITY_OF_BAIT: Record<BaitEventType, EventSeverity> = { bait_missing: 'high', bait_changed: 'high' };

export function severityOfChain(type: Exclude<ChainEventType, 'clock_jump'>): EventSeverity {
  return BY_CHAIN_TYPE[type];
}

/** Returns the distance in ms between a clock and the time of a scan; 0 if the clock is within that time. */
export function clockOff({ started_at, finished_at }: { started_at: string; finished_at: string }, now: Date): number {
  return Math.max(0, Date.parse(started_at) - now.getTime(), now.getTime() - Date.parse(finished_at));
}

export function severityOfClock(offMs: number): EventSeverity {
  return offMs < DAY_MS ? 'low' : 'high';
}

/**
 * Counts the scans missed between reports.
 * @param reports times of receipt, in order, starting with the last report before the period.
 */
export function missedScans(reports: readonly Date[], now: Date, intervalSeconds: number): number {
  const times = [...reports, now].map((time) => time.getTime());
  let missed = 0;
  for (const [at, time] of times.entries()) {
    const before = times[at - 1];
    // Rounded, because sensors start a little earlier or later each time.
    if (before !== undefined) missed += Math.max(0, Math.round((time - before) / (intervalSeconds * 1000)) - 1);
  }
  return missed;
}
