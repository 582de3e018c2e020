import { PAGES } from '../../web/own-path.ts';
import { streamOf } from '../enums.ts';

export const ENDPOINTS_PATH = `${PAGES}/endpoints`;
export const EVENTS_PATH = `${ENDPOINTS_PATH}/events`;
export const CHANGES_PATH = `${ENDPOINTS_PATH}/changes`;
export const WINDOWS_PATH = `${ENDPOINTS_PATH}/change-windows`;
export const PACKAGES_PATH = `${ENDPOINTS_PATH}/packages`;
export const BASELINES_PATH = `${ENDPOINTS_PATH}/baselines`;
/** Path of the API. */
export const ENDPOINTS_API = '/endpoints';

export const ENROL_PATH = `${ENDPOINTS_PATH}/enroll`;

/** The page of an endpoint, or one below it. */
export function hostPath(endpointId: string, ...below: readonly string[]): string {
  return pathOf(`${ENDPOINTS_PATH}/hosts`, endpointId, ...below);
}

export function eventPath(eventId: string, ...below: readonly string[]): string {
  return pathOf(EVENTS_PATH, eventId, ...below);
}

export function changePath(changeId: string, ...below: readonly string[]): string {
  return pathOf(CHANGES_PATH, changeId, ...below);
}

export function windowPath(windowId: string, ...below: readonly string[]): string {
  return pathOf(WINDOWS_PATH, windowId, ...below);
}

export function baselinePath(baselineId: string, ...below: readonly string[]): string {
  return pathOf(BASELINES_PATH, baselineId, ...below);
}

/** On the pages of the audit service: the stream of an endpoint. */
export function hostStreamPath(endpointId: string): string {
  return pathOf(`${PAGES}/audit/streams`, streamOf(endpointId));
}

/** On the pages of the audit service: an entry. */
export function entryPath({ stream_id, sequence }: { stream_id: string; sequence: number }): string {
  return pathOf(`${PAGES}/audit/streams`, stream_id, 'entries', String(sequence));
}

/** A path of the API. */
export function endpointsApi(...parts: readonly string[]): string {
  return pathOf(ENDPOINTS_API, ...parts);
}

function pathOf(...[first, ...others]: readonly [string, ...string[]]): string {
  return [first, ...others.map(encodeURIComponent)].join('/');
}

/** The breadcrumb above the pages of endpoints. */
export const ABOVE_ENDPOINTS = [{ title: 'Endpoints', path: ENDPOINTS_PATH }];
export const ABOVE_EVENTS = [...ABOVE_ENDPOINTS, { title: 'Events', path: EVENTS_PATH }];
export const ABOVE_CHANGES = [...ABOVE_ENDPOINTS, { title: 'Changes', path: CHANGES_PATH }];
export const ABOVE_WINDOWS = [...ABOVE_ENDPOINTS, { title: 'Change windows', path: WINDOWS_PATH }];
export const ABOVE_BASELINES = [...ABOVE_ENDPOINTS, { title: 'Baselines', path: BASELINES_PATH }];

export function aboveHost({ endpoint_id, name }: { endpoint_id: string; name: string }) {
  return [...ABOVE_ENDPOINTS, { title: name, path: hostPath(endpoint_id) }];
}
