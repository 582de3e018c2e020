import type { Reader, Transaction } from '../../../../src/platform/database/database.ts';
import type { TableSet } from '../../../../src/platform/database/table.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;
type AnyTables = Record<string, Row>;
type Column = TableSet[string]['columns'][string];

/** Table of a service, with a row to edit. */
export interface EditedTable {
  name: string;
  columns: TableSet[string]['columns'];
  /** Members of the row; any row if there are none. */
  row: Row;
  /** Values for single columns, for which `another` has none. */
  values: Row;
  /** Columns of which no two rows have the same values, besides those that are declared alone. */
  unique: readonly string[];
}

/** Replaces a column of a row by another plausible value. */
export async function updateColumn(transaction: Transaction, table: EditedTable, column: string): Promise<void> {
  const row = await rowOf(transaction, table);
  const rows = transaction.tables<AnyTables>().updateTable(table.name);
  const changed = rows.set({ [column]: another(table, column, row) });
  await changed.where(({ and }) => and(keysOf(table, row))).execute();
}

export async function deleteRow(transaction: Transaction, table: EditedTable): Promise<void> {
  const row = await rowOf(transaction, table);
  const rows = transaction.tables<AnyTables>().deleteFrom(table.name);
  await rows.where(({ and }) => and(keysOf(table, row))).execute();
}

/** Adds a copy of a row that differs only in the columns that must be unique. */
export async function insertCopy(transaction: Transaction, table: EditedTable): Promise<void> {
  const row = await rowOf(transaction, table);
  const unique = Object.keys(table.columns).filter((column) => isUnique(table, column));
  const changed = Object.fromEntries(unique.map((column) => [column, another(table, column, row)]));
  await transaction
    .tables<AnyTables>()
    .insertInto(table.name)
    .values({ ...row, ...changed })
    .execute();
}

/** Reports whether the database numbers the rows by a column. */
export function isOrdinal(column: Column | undefined): boolean {
  return column !== undefined && sqlOf(column).includes('ORDINAL');
}

/** Puts a row back as it was, whether it was changed or removed since. */
export async function putBack(transaction: Transaction, table: EditedTable, before: Row): Promise<void> {
  const { columns, name } = table;
  const unique = Object.keys(columns).filter((column) => isUnique(table, column));
  const key = Object.fromEntries(
    unique.flatMap((column) => (before[column] == null ? [] : [[column, before[column]]])),
  );
  const tables = transaction.tables<AnyTables>();
  await tables
    .deleteFrom(name)
    .where(({ and }) => and(key))
    .execute();
  await tables.insertInto(name).values(before).execute();
}

export async function rowOf(reader: Reader, { name, row }: EditedTable): Promise<Row> {
  const rows = reader.tables<AnyTables>().selectFrom(name).selectAll();
  return rows
    .where(({ and }) => and(row))
    .limit(1)
    .executeTakeFirstOrThrow();
}

/** Returns the members of a row that identify it. */
function keysOf({ columns }: EditedTable, row: Row): Row {
  return Object.fromEntries(Object.keys(columns).flatMap((name) => (row[name] == null ? [] : [[name, row[name]]])));
}

function isUnique({ columns, unique }: EditedTable, name: string): boolean {
  const column = columns[name];
  return unique.includes(name) || (column !== undefined && /UNIQUE|PRIMARY KEY|ORDINAL/.test(sqlOf(column)));
}

function sqlOf({ define, constraints }: Column): string {
  const words = { ordinal: 'ORDINAL', digest: () => '', isObject: () => '' };
  return `${define(words as never, '')} ${constraints}`;
}

/** Returns another plausible value for a column of a row. */
function another({ columns, values }: EditedTable, name: string, row: Row): Value {
  const [stated, value = null] = [values[name], row[name]];
  if (stated !== undefined) return stated;
  // No other row has a number or a lane as high.
  if (typeof value === 'number') return value + 1000;
  if (value instanceof Uint8Array) return Buffer.concat([value, Buffer.of(0)]);
  if (value === null)
    return { text: '2026-01-02T03:04:05.678Z', integer: 1, bytes: Buffer.of(0) }[columns[name]?.kind ?? 'text'];
  if (/^[0-9a-f]{64}$/.test(value)) return 'f'.repeat(64);
  return value.startsWith('20') ? value.replace(/^..../, '2020') : `${value}x`;
}
