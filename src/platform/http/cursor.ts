import { DomainError } from '../errors.ts';

/** Encodes the position of a list as the opaque cursor of the API. */
export function toCursor(list: string, position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

/**
 * Returns a page of a list.
 * @param rows up to one more than `limit`.
 * @param cursorAfter returns the cursor after a row.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorAfter: (last: Row) => string,
): { page: Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next_cursor: rows.length > limit && last !== undefined ? cursorAfter(last) : null };
}

/**
 * Decodes a cursor.
 * @param shape types of the position that was passed to `toCursor`.
 * @throws DomainError `invalid_cursor` for a text that this list did not issue.
 */
export function fromCursor<const S extends readonly ('string' | 'number')[]>(
  list: string,
  shape: S,
  cursor: string,
): { -readonly [K in keyof S]: S[K] extends 'string' ? string : number } {
  const [name, ...position] = parse(cursor);
  const fits =
    name === list &&
    position.length === shape.length &&
    position.every((part, at) => typeof part === shape[at] && isStorable(part));
  if (!fits) throw invalidCursor();
  return position as { -readonly [K in keyof S]: S[K] extends 'string' ? string : number };
}

/** Reports whether every database can store the value. */
function isStorable(part: unknown): boolean {
  return typeof part === 'string' ? part.isWellFormed() && !part.includes('\0') : Number.isSafeInteger(part);
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

export function invalidCursor(): DomainError {
  return new DomainError('invalid_cursor', 'the cursor was not issued by this list');
}
