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

/** A path with what is asked for; what is empty is not. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Where a page of a stream stands. */
export function waysTo(streamId: string | null): { title: string; path: string }[] {
  const audit = { title: 'Audit', path: AUDIT_PATH };
  return streamId === null ? [audit] : [audit, { title: streamId, path: streamPath(streamId) }];
}
