import { PAGES, pathsBelow } from '../../web/own-path.ts';
import { TRAPS_STREAM } from '../enums.ts';

export const TRAPS_PATH = `${PAGES}/traps`;
export const IMPORT_PATH = `${TRAPS_PATH}/import`;
export const CREDENTIALS_PATH = `${TRAPS_PATH}/credentials`;

/** The page of a trap, or one below it. */
export const trapPath = pathsBelow(CREDENTIALS_PATH);
export const detectionPath = pathsBelow(`${TRAPS_PATH}/detections`);

/** An entry of the stream of traps, on the pages of the audit service. */
export function trapEntryPath(sequence: number): string {
  return `${PAGES}/audit/streams/${TRAPS_STREAM}/entries/${sequence}`;
}

/** Path of the API. */
export const TRAPS_API = '/traps/api/v1';

/** A path of the API. */
export const trapsApi = pathsBelow(TRAPS_API);

/** The breadcrumb above the pages of traps. */
export const ABOVE_TRAPS = [{ title: 'Traps', path: TRAPS_PATH }];
export const ABOVE_CREDENTIALS = [...ABOVE_TRAPS, { title: 'All traps', path: CREDENTIALS_PATH }];
