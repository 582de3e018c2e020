import type { Database } from '../../database/database.ts';
import { fromCursor, pageOf, toCursor } from '../../http/cursor.ts';
import type { PageQuery } from '../../http/fields.ts';
import { archivesBefore, type CountedArchive } from './repository.ts';

/** An archive as people and programs see it. */
export type WireArchive = Omit<CountedArchive, 'archive_no' | 'signed_by'> & { signed_by: string[] };

/** The signed archives whose packages are known, newest first. @throws DomainError `invalid_cursor`. */
export async function listArchives(
  database: Database,
  { limit, cursor }: PageQuery,
): Promise<{ data: WireArchive[]; next_cursor: string | null }> {
  const before = cursor === undefined ? undefined : fromCursor('packages', ['number'], cursor)[0];
  const rows = await archivesBefore(database, { before, limit: limit + 1 });
  const { shown, next_cursor } = pageOf(rows, limit, (last) => toCursor('packages', [last.archive_no]));
  return { data: shown.map(toWire), next_cursor };
}

function toWire({ archive_no: _, signed_by, ...archive }: CountedArchive): WireArchive {
  return { ...archive, signed_by: JSON.parse(signed_by) };
}
