import { type RawBuilder, sql } from 'kysely';

/** Differences between the dialects in queries. */
export interface QueryDialect {
  /** A text as JSON writes it, with exactly the escapes that `JSON.stringify` makes. */
  json(text: RawBuilder<string>): RawBuilder<string>;
  /** Concatenates the texts of rows, in the order of a column, as UTF-8. */
  joined(text: RawBuilder<string>, by: string): RawBuilder<Uint8Array>;
  /** A condition that a column has one of many values. */
  isAmong(column: string, values: readonly string[]): RawBuilder<boolean>;
  /** At the end of a query: its rows are of this transaction until that ends. */
  locked: RawBuilder<unknown>;
  /** The same, without those that are of another transaction at the moment. */
  lockedByNobody: RawBuilder<unknown>;
  /** Ends each later statement of the transaction that takes longer; null where none waits for another transaction. */
  limitStatements(ms: number): RawBuilder<unknown> | null;
}

export const SQLITE_DIALECT: QueryDialect = {
  json: (text) => sql`json_quote(${text})`,
  joined: (text) => sql`CAST(group_concat(${text}, '') AS BLOB)`,
  isAmong: (column, values) => sql`${sql.ref(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  // There is one writer, and this is it.
  locked: sql``,
  lockedByNobody: sql``,
  limitStatements: () => null,
};

export const POSTGRES_DIALECT: QueryDialect = {
  json: (text) => sql`to_json(${text})::text`,
  joined: (text, by) => sql`convert_to(string_agg(${text}, '' ORDER BY ${sql.ref(by)}), 'UTF8')`,
  isAmong: (column, values) => sql`${sql.ref(column)} = ANY(${values}::text[])`,
  locked: sql`FOR UPDATE`,
  lockedByNobody: sql`FOR UPDATE SKIP LOCKED`,
  limitStatements: (ms) => sql`SELECT set_config('statement_timeout', ${String(ms)}, true)`,
};
