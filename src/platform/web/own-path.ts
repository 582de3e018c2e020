/** The path of all pages. The cookie of a session goes nowhere else. */
export const PAGES = '/app';

/** The front page. */
export const FRONT = `${PAGES}/`;

/** A path that a page may send somebody to: one of our own pages, or the front page in the place of anything else. */
export function ownPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !/^\/app(?:[/?]|$)/.test(wanted)) return FRONT;
  // Resolves it as a browser would, dots and backslashes included.
  const { pathname, search } = new URL(wanted, 'http://own.invalid');
  return /^\/app(?:\/|$)/.test(pathname) ? pathname + search : FRONT;
}

/** Returns a function that appends path segments to a path, each of them encoded. */
export function pathsBelow(path: string): (...below: readonly (string | number)[]) => string {
  return (...below) => [path, ...below.map(encodeURIComponent)].join('/');
}

/** The query of a list. Empty values are left out. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** A path with what is asked for. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
