import { type AlertSeverity, SEVERITIES } from '../alert-enums.ts';

/** Events at one path of an endpoint. */
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

/** Events about the reports of an endpoint. */
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

/** Events about planted bait. */
const BAIT_EVENT_TYPES = ['bait_missing', 'bait_changed'] as const;
export type BaitEventType = (typeof BAIT_EVENT_TYPES)[number];

export const EVENT_TYPES = [...PATH_EVENT_TYPES, ...CHAIN_EVENT_TYPES, ...BAIT_EVENT_TYPES] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const EVENT_SEVERITIES = SEVERITIES;
export type EventSeverity = AlertSeverity;

/** Statuses of events. `quieted`: raised during a change window. */
export const EVENT_STATUSES = ['open', 'acknowledged', 'quieted', 'resolved'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

export const BASELINE_STATUSES = ['proposed', 'active', 'superseded', 'rejected'] as const;
export type BaselineStatus = (typeof BASELINE_STATUSES)[number];

/**
 * Statuses of endpoints. `waiting`: has not reported since enrollment. `stale`: three intervals passed without a
 * report. `retired`: no longer reports, and is not expected to.
 */
export const HOST_STATUSES = ['waiting', 'reporting', 'stale', 'retired'] as const;
export type HostStatus = (typeof HOST_STATUSES)[number];

export const CHANGE_WINDOW_STATUSES = ['planned', 'running', 'ended'] as const;

/**
 * Statuses of bait. `asked`: the sensor has yet to plant it. `refused`: the sensor cannot plant it. `lost`: no longer
 * at its path. `leaving`: the sensor has yet to remove it. `left`: left in place, because it was not the planted file,
 * or because the endpoint was retired.
 */
export const BAIT_STATUSES = ['asked', 'planted', 'refused', 'lost', 'leaving', 'removed', 'left'] as const;
export type BaitStatus = (typeof BAIT_STATUSES)[number];

/** Signs of a read: access time, found at the next scan; inotify, found at once. */
export const READ_SIGNS = ['atime', 'inotify'] as const;
export type ReadSign = (typeof READ_SIGNS)[number];

/** Folders that an endpoint scans by default. */
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

/** Returns the id of the audit stream of an endpoint. */
export function streamOf(endpointId: string): string {
  return `endpoints/${endpointId}`;
}

/** Audit stream of the decisions about changes on many endpoints. */
export const CHANGES_STREAM = 'endpoints/changes';
