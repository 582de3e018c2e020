import { PAGES, pathsBelow } from '../../web/own-path.ts';
import { TRAPS_STREAM } from '../enums.ts';

export const TRAPS_PATH = `${PAGES}/traps`;
export const IMPORT_PATH = `${TRAPS_PATH}/import`;
export const CREDENTIALS_PATH = `${TRAPS_PATH}/credentials`;

/** Returns the path of a trap's page, or of a page below it. */
export const trapPath = pathsBelow(CREDENTIALS_PATH);
export const detectionPath = pathsBelow(`${TRAPS_PATH}/detections`);

/** Returns the path of an entry of the stream of traps, on the pages of the audit service. */
export function trapEntryPath(sequence: number): string {
  return `${PAGES}/audit/streams/${TRAPS_STREAM}/entries/${sequence}`;
}

/** Base path of the API. */
export const TRAPS_API = '/traps/api/v1';

/** Returns a path of the API. */
export const trapsApi = pathsBelow(TRAPS_API);

/** Breadcrumbs above the pages of traps. */
export const ABOVE_TRAPS = [{ title: 'Traps', path: TRAPS_PATH }];
export const ABOVE_CREDENTIALS = [...ABOVE_TRAPS, { title: 'All traps', path: CREDENTIALS_PATH }];
