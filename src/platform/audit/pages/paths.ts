import { PAGES, pathsBelow } from '../../web/own-path.ts';

export const AUDIT_PATH = `${PAGES}/audit`;

/** The page of a stream, or one below it. */
export const streamPath = pathsBelow(`${AUDIT_PATH}/streams`);
export const checkPath = pathsBelow(`${AUDIT_PATH}/verifications`);
export const packagePath = pathsBelow(`${AUDIT_PATH}/packages`);
/** The same in the API. */
export const streamApi = pathsBelow('/audit/streams');

/** Returns the pages above a page of a stream. */
export function waysTo(streamId: string | null): { title: string; path: string }[] {
  const audit = { title: 'Audit', path: AUDIT_PATH };
  return streamId === null ? [audit] : [audit, { title: streamId, path: streamPath(streamId) }];
}
