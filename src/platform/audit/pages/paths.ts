import { PAGES, pathsBelow } from '../../web/own-path.ts';

export const AUDIT_PATH = `${PAGES}/audit`;
export const ENTRIES_PATH = `${AUDIT_PATH}/entries`;

/** Returns the path of a stream's page, or of a page below it. */
export const streamPath = pathsBelow(`${AUDIT_PATH}/streams`);
export const checkPath = pathsBelow(`${AUDIT_PATH}/verifications`);
export const packagePath = pathsBelow(`${AUDIT_PATH}/packages`);
/** Returns the same path in the API. */
export const streamApi = pathsBelow('/audit/streams');

/** Returns the path of an API key's page. */
export const pathOfKey = pathsBelow(`${PAGES}/keys`);

/** Returns the pages above a page of a stream. */
export function waysTo(streamId: string | null): { title: string; path: string }[] {
  const audit = { title: 'Audit', path: AUDIT_PATH };
  return streamId === null ? [audit] : [audit, { title: streamId, path: streamPath(streamId) }];
}
