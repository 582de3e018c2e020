import { auditStreamPath } from '../../web/entry-place.ts';
import { PAGES, pathsBelow } from '../../web/own-path.ts';
import { streamOf } from '../enums.ts';

export const ENDPOINTS_PATH = `${PAGES}/endpoints`;
export const EVENTS_PATH = `${ENDPOINTS_PATH}/events`;
export const CHANGES_PATH = `${ENDPOINTS_PATH}/changes`;
export const WINDOWS_PATH = `${ENDPOINTS_PATH}/change-windows`;
export const PACKAGES_PATH = `${ENDPOINTS_PATH}/packages`;
export const BASELINES_PATH = `${ENDPOINTS_PATH}/baselines`;
/** Base path of the API. */
export const ENDPOINTS_API = '/endpoints';

export const ENROL_PATH = `${ENDPOINTS_PATH}/enroll`;

/** Returns the path of an endpoint's page, or of a page below it. */
export const hostPath = pathsBelow(`${ENDPOINTS_PATH}/hosts`);
export const eventPath = pathsBelow(EVENTS_PATH);
export const changePath = pathsBelow(CHANGES_PATH);
export const windowPath = pathsBelow(WINDOWS_PATH);
export const baselinePath = pathsBelow(BASELINES_PATH);

/** Returns the path of an endpoint's stream, on the pages of the audit service. */
export function hostStreamPath(endpointId: string): string {
  return auditStreamPath(streamOf(endpointId));
}

/** Returns a path of the API. */
export const endpointsApi = pathsBelow(ENDPOINTS_API);

/** Breadcrumbs above the pages of endpoints. */
export const ABOVE_ENDPOINTS = [{ title: 'Endpoints', path: ENDPOINTS_PATH }];
export const ABOVE_EVENTS = [...ABOVE_ENDPOINTS, { title: 'Events', path: EVENTS_PATH }];
export const ABOVE_CHANGES = [...ABOVE_ENDPOINTS, { title: 'Changes', path: CHANGES_PATH }];
export const ABOVE_WINDOWS = [...ABOVE_ENDPOINTS, { title: 'Change windows', path: WINDOWS_PATH }];
export const ABOVE_BASELINES = [...ABOVE_ENDPOINTS, { title: 'Baselines', path: BASELINES_PATH }];

export function aboveHost({ endpoint_id, name }: { endpoint_id: string; name: string }) {
  return [...ABOVE_ENDPOINTS, { title: name, path: hostPath(endpoint_id) }];
}
