import { type SelectQueryBuilder, sql } from 'kysely';
import { fromCursor, pageOf, toCursor } from './cursor.ts';
import type { PageQuery } from './fields.ts';

interface Listed<TB, Row> {
  /** Name of the list in its cursors. */
  list: string;
  /** Table of the number's column, so that a joined table may have a column of the same name. */
  table: TB & string;
  number: keyof Row & string;
}

interface Sorting<TB, Row> {
  /** Name of the list in its cursors. */
  list: string;
  /** Table of the columns, if a joined table has a column of the same name. */
  table?: TB & string;
  /** Columns whose values together are unique, with their types. */
  by: { readonly [Name in keyof Row & string]?: 'string' | 'number' };
  direction: 'asc' | 'desc';
}

/** Returns a page of a query's rows, in the order of some columns. @throws DomainError `invalid_cursor`. */
export async function sortedPage<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { list, table, by, direction }: Sorting<TB, Row>,
  { limit, cursor }: PageQuery,
): Promise<{ page: Row[]; next_cursor: string | null }> {
  const names = Object.keys(by) as (keyof Row & string)[];
  const columns = names.map((name) => sql.ref(table === undefined ? name : `${table}.${name}`));
  let rows = columns.reduce((sorted, column) => sorted.orderBy(column, direction), query.limit(limit + 1));
  if (cursor !== undefined) {
    const position = fromCursor(list, Object.values(by as Record<string, 'string' | 'number'>), cursor);
    const isAfter = sql.raw(direction === 'asc' ? '>' : '<');
    rows = rows.where(sql<boolean>`(${sql.join(columns)}) ${isAfter} (${sql.join(position)})`);
  }
  const found = (await rows.execute()) as Row[];
  // PostgreSQL returns large numbers as strings.
  const positionOf = (row: Row) => names.map((name) => (by[name] === 'number' ? Number(row[name]) : String(row[name])));
  return pageOf(found, limit, (last) => toCursor(list, positionOf(last)));
}

/** Returns a page of a query's rows, in descending order of their numbers. @throws DomainError `invalid_cursor`. */
export function newestFirst<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { list, table, number }: Listed<TB, Row>,
  page: PageQuery,
): Promise<{ page: Row[]; next_cursor: string | null }> {
  const by = { [number]: 'number' } as Sorting<TB, Row>['by'];
  return sortedPage(query, { list, table, by, direction: 'desc' }, page);
}
