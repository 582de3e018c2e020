import { type SelectQueryBuilder, sql } from 'kysely';
import { fromCursor, pageOf, toCursor } from './cursor.ts';

interface Listed<TB, Row> {
  /** Name of the list in its cursors. */
  list: string;
  /** The column of the row's number, with its table: a join with another table that has it changes nothing. */
  table: TB & string;
  number: keyof Row & string;
}

/**
 * One page of the rows of a query, in falling order of their numbers.
 * @throws DomainError `invalid_cursor`.
 */
export async function newestFirst<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { list, table, number }: Listed<TB, Row>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ shown: Row[]; next_cursor: string | null }> {
  const at = sql<number>`${sql.ref(`${table}.${number}`)}`;
  let rows = query.orderBy(at, 'desc').limit(limit + 1);
  if (cursor !== undefined) rows = rows.where(sql<boolean>`${at} < ${fromCursor(list, ['number'], cursor)[0]}`);
  const found = (await rows.execute()) as Row[];
  return pageOf(found, limit, (last) => toCursor(list, [Number(last[number])]));
}
