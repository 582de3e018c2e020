/** The target of a request. */
export interface Target {
  /** Decoded, with no `.`, `..` or empty parts. */
  path: string;
  /** As it came, without its question mark. */
  query: string;
}

const ESCAPE = /%([0-9A-Fa-f]{2})?/g;

/** The path and query of a request's target, as nginx reads them. @returns null for one that it refuses. */
export function readTarget(target: string): Target | null {
  const local = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/, '');
  const at = local.search(/[?#]/);
  const query = at >= 0 && local[at] === '?' ? (local.slice(at + 1).split('#', 1)[0] ?? '') : '';
  const path = normalPath(at < 0 ? local : local.slice(0, at));
  return path === null ? null : { path, query };
}

function normalPath(encoded: string): string | null {
  let isWhole = true;
  const decoded = encoded.replace(ESCAPE, (_, hex: string | undefined) => {
    if (hex === undefined || hex === '00') isWhole = false;
    return String.fromCharCode(Number.parseInt(hex ?? '0', 16));
  });
  if (!isWhole) return null;
  const parts: string[] = [];
  const given = decoded.split('/').slice(1);
  for (const [index, part] of given.entries()) {
    const isLast = index === given.length - 1;
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
    else if (isLast) parts.push('');
  }
  return `/${parts.join('/')}`;
}
