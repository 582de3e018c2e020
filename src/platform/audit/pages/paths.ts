import { PAGES } from '../../web/own-path.ts';

export const AUDIT_PATH = `${PAGES}/audit`;

/** The page of a stream, or one below it. */
export function streamPath(streamId: string, ...below: readonly (string | number)[]): string {
  return [`${AUDIT_PATH}/streams`, ...[streamId, ...below].map(encodeURIComponent)].join('/');
}

export function checkPath(verificationId: string): string {
  return `${AUDIT_PATH}/verifications/${encodeURIComponent(verificationId)}`;
}

export function packagePath(packageId: string, ...below: readonly string[]): string {
  return [`${AUDIT_PATH}/packages`, ...[packageId, ...below].map(encodeURIComponent)].join('/');
}

/** The same in the API. */
export function streamApi(streamId: string, ...below: readonly string[]): string {
  return ['/audit/streams', ...[streamId, ...below].map(encodeURIComponent)].join('/');
}

/** Returns the pages above a page of a stream. */
export function waysTo(streamId: string | null): { title: string; path: string }[] {
  const audit = { title: 'Audit', path: AUDIT_PATH };
  return streamId === null ? [audit] : [audit, { title: streamId, path: streamPath(streamId) }];
}
