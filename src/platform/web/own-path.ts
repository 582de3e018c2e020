/** Base path of all pages, to which the session cookie is limited. */
export const PAGES = '/app';

/** Path of the front page. */
export const FRONT = `${PAGES}/`;

/** Returns a safe redirect target: one of our own pages, or the front page for any other value. */
export function ownPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !/^\/app(?:[/?]|$)/.test(wanted)) return FRONT;
  // Resolves the path as a browser would, including dots and backslashes.
  const { pathname, search } = new URL(wanted, 'http://own.invalid');
  return /^\/app(?:\/|$)/.test(pathname) ? pathname + search : FRONT;
}

/** Returns a function that appends path segments to a path, each of them encoded. */
export function pathsBelow(path: string): (...below: readonly (string | number)[]) => string {
  return (...below) => [path, ...below.map(encodeURIComponent)].join('/');
}

/** Query of a list. Empty values are left out. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** Returns a path with a query. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
