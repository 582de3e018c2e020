import { type AlertSeverity, SEVERITIES } from '../alert-enums.ts';

/** Faults at one path of an endpoint. */
export const PATH_EVENT_TYPES = [
  'binary_modified',
  'binary_added',
  'binary_removed',
  'attributes_changed',
  'file_type_changed',
  'binary_unreadable',
  'binary_unstable',
] as const;
export type PathEventType = (typeof PATH_EVENT_TYPES)[number];

/** Faults of an endpoint's reports. */
export const CHAIN_EVENT_TYPES = [
  'report_gap',
  'report_repeated',
  'report_fork',
  'report_signature',
  'snapshot_restored',
  'clock_jump',
  'key_changed',
  'stale',
] as const;
export type ChainEventType = (typeof CHAIN_EVENT_TYPES)[number];

/** Faults of bait that the sensor planted. */
const BAIT_EVENT_TYPES = ['bait_missing', 'bait_changed'] as const;
export type BaitEventType = (typeof BAIT_EVENT_TYPES)[number];

export const EVENT_TYPES = [...PATH_EVENT_TYPES, ...CHAIN_EVENT_TYPES, ...BAIT_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const EVENT_SEVERITIES = SEVERITIES;
export type EventSeverity = AlertSeverity;

/** `quieted`: it was raised within a change window. */
export const EVENT_STATUSES = ['open', 'acknowledged', 'quieted', 'resolved'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

export const BASELINE_STATUSES = ['proposed', 'active', 'superseded', 'rejected'] as const;
export type BaselineStatus = (typeof BASELINE_STATUSES)[number];

/**
 * `waiting`: it has not reported since it was enrolled. `stale`: three intervals went by without a report. `retired`:
 * it reports no more, and nobody waits for it.
 */
export const HOST_STATUSES = ['waiting', 'reporting', 'stale', 'retired'] as const;
export type HostStatus = (typeof HOST_STATUSES)[number];

export const CHANGE_WINDOW_STATUSES = ['planned', 'running', 'ended'] as const;

/**
 * `asked`: its sensor has yet to plant it. `refused`: the sensor cannot. `lost`: it is not there any more. `leaving`: its
 * sensor has yet to remove it. `left`: it was left where it is: it was not what the sensor planted, or the endpoint was
 * retired.
 */
export const BAIT_STATUSES = ['asked', 'planted', 'refused', 'lost', 'leaving', 'removed', 'left'] as const;
export type BaitStatus = (typeof BAIT_STATUSES)[number];

/** By what a sensor sees that a file is read: at the next scan, at once. */
export const READ_SIGNS = ['atime', 'inotify'] as const;
export type ReadSign = (typeof READ_SIGNS)[number];

/** The folders that an endpoint scans where nothing else is said. */
export const DEFAULT_ROOTS = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/usr/lib/systemd',
  '/usr/libexec',
  '/bin',
  '/sbin',
  '/lib/systemd',
] as const;

/** The stream of the audit service that has what happens to an endpoint. */
export function streamOf(endpointId: string): string {
  return `endpoints/${endpointId}`;
}

/** The stream that has what is decided about changes on many endpoints. */
export const CHANGES_STREAM = 'endpoints/changes';
