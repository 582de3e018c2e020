import { type SelectQueryBuilder, sql } from 'kysely';
import { fromCursor, pageOf, toCursor } from './cursor.ts';

interface Listed<TB, Row> {
  /** Name of the list in its cursors. */
  list: string;
  /** Table of the number's column, so that a joined table may have a column of the same name. */
  table: TB & string;
  number: keyof Row & string;
}

/**
 * Returns a page of a query's rows, in descending order of their numbers.
 * @throws DomainError `invalid_cursor`.
 */
export async function newestFirst<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { list, table, number }: Listed<TB, Row>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ page: Row[]; next_cursor: string | null }> {
  const at = sql<number>`${sql.ref(`${table}.${number}`)}`;
  let rows = query.orderBy(at, 'desc').limit(limit + 1);
  if (cursor !== undefined) rows = rows.where(sql<boolean>`${at} < ${fromCursor(list, ['number'], cursor)[0]}`);
  const found = (await rows.execute()) as Row[];
  return pageOf(found, limit, (last) => toCursor(list, [Number(last[number])]));
}
