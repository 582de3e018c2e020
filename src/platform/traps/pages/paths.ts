import { PAGES } from '../../web/own-path.ts';
import { TRAPS_STREAM } from '../enums.ts';

export const TRAPS_PATH = `${PAGES}/traps`;
export const IMPORT_PATH = `${TRAPS_PATH}/import`;
export const CREDENTIALS_PATH = `${TRAPS_PATH}/credentials`;

/** The page of a trap, or one below it. */
export function trapPath(credentialId: string, ...below: readonly string[]): string {
  return [CREDENTIALS_PATH, ...[credentialId, ...below].map(encodeURIComponent)].join('/');
}

export function detectionPath(detectionId: string, ...below: readonly string[]): string {
  return [`${TRAPS_PATH}/detections`, ...[detectionId, ...below].map(encodeURIComponent)].join('/');
}

/** An entry of the stream of traps, on the pages of the audit service. */
export function trapEntryPath(sequence: number): string {
  return `${PAGES}/audit/streams/${TRAPS_STREAM}/entries/${sequence}`;
}

/** Path of the API. */
export const TRAPS_API = '/traps/api/v1';

/** A path of the API. */
export function trapsApi(...parts: readonly string[]): string {
  return [TRAPS_API, ...parts.map(encodeURIComponent)].join('/');
}

/** The breadcrumb above the pages of traps. */
export const ABOVE_TRAPS = [{ title: 'Traps', path: TRAPS_PATH }];
export const ABOVE_CREDENTIALS = [...ABOVE_TRAPS, { title: 'All traps', path: CREDENTIALS_PATH }];
