import type { Generated } from 'kysely';
import type { ColumnKind, Columns } from './database.ts';
import type { Migration, TableWords } from './migration.ts';

/** A column of a table, and the type that queries read and write it as. */
export interface Column<Value> {
  kind: ColumnKind;
  /** Returns the name, the type and the constraints in SQL. */
  sql(words: TableWords, name: string): string;
  /** Carries the type; no column has it. */
  value?: Value;
}

/** Columns by name. */
type ColumnSet = Readonly<Record<string, Column<unknown>>>;

export interface TableOptions {
  /** Constraints over several columns. */
  constraints?: readonly string[];
  /** By name: what follows the name of the table. */
  indexes?: Readonly<Record<string, string>>;
  uniqueIndexes?: Readonly<Record<string, string>>;
  /** The columns of each unique key, for a table whose rows are never changed or removed. */
  appendOnly?: readonly (readonly string[])[];
  /** Values of the rows that the table begins with. */
  firstRows?: readonly string[];
}

export interface Table<Set extends ColumnSet> extends TableOptions {
  columns: Set;
}

type TableSet = Readonly<Record<string, Table<ColumnSet>>>;

/** Returns the type of a table's rows, as queries take it. */
export type RowOf<T> =
  T extends Table<infer Set> ? { [Name in keyof Set]: Set[Name] extends Column<infer Value> ? Value : never } : never;

/** Returns the type that `Reader.tables` takes. */
export type TablesOf<Set> = { [Name in keyof Set]: RowOf<Set[Name]> };

/** A number that the database gives each new row, greater than all that are there: the primary key. */
export function ordinal(): Column<Generated<number>> {
  return { kind: 'integer', sql: (words, name) => `${name} ${words.ordinal}` };
}

/** Text that is compared byte by byte, whatever the locale is. @param constraints in SQL. */
export function text<Value extends string = string>(constraints = ''): Column<Value> {
  return { kind: 'text', sql: (words, name) => `${name} ${words.text} NOT NULL ${constraints}` };
}

/** One of some texts. */
export function oneOf<const Value extends string>(values: readonly Value[]): Column<Value> {
  return {
    kind: 'text',
    sql: (words, name) => `${name} ${words.text} NOT NULL CHECK (${name} IN (${values.map(quoted).join(', ')}))`,
  };
}

/** An integer of 64 bits. @param constraints in SQL. */
export function integer(constraints = ''): Column<number> {
  return { kind: 'integer', sql: (words, name) => `${name} ${words.integer} NOT NULL ${constraints}` };
}

/** 0 or 1. */
export function flag(): Column<number> {
  return {
    kind: 'integer',
    sql: (words, name) => `${name} ${words.integer} NOT NULL CHECK (${name} IN (0, 1))`,
  };
}

export function bytes(): Column<Uint8Array> {
  return { kind: 'bytes', sql: (words, name) => `${name} ${words.bytes} NOT NULL` };
}

/** Lower-case hex SHA-256. @param constraints in SQL. */
export function digest(constraints = ''): Column<string> {
  return { kind: 'text', sql: (words, name) => `${words.digest(name)} NOT NULL ${constraints}` };
}

/** The text of a JSON object. */
export function jsonObject(): Column<string> {
  return {
    kind: 'text',
    sql: (words, name) => `${name} ${words.text} NOT NULL CHECK (${words.isObject(name)})`,
  };
}

/** A column that may be null. */
export function optional<Value>({ kind, sql }: Column<Value>): Column<Value | null> {
  return { kind, sql: (words, name) => sql(words, name).replace(' NOT NULL', '') };
}

export function table<Set extends ColumnSet>(columns: Set, options: TableOptions = {}): Table<Set> {
  return { columns, ...options };
}

/** Returns the statements that create tables, in their order. */
export function creationOf(tables: TableSet): Migration {
  return (words) => Object.entries(tables).flatMap(([name, made]) => statementsOf(words, name, made));
}

/** Returns the kinds of some columns, in their order, for `insertAll` and `updateAll`. */
export function kindsOf<Set extends ColumnSet>(
  { columns }: Table<Set>,
  names: readonly (keyof Set & string)[],
): Columns {
  return Object.fromEntries(names.map((name) => [name, columns[name]?.kind ?? 'text']));
}

function statementsOf(words: TableWords, name: string, made: Table<ColumnSet>): string[] {
  const columns = Object.entries(made.columns).map(([column, { sql }]) => sql(words, column));
  const { constraints = [], indexes = {}, uniqueIndexes = {}, appendOnly, firstRows = [] } = made;
  const indexing = (kind: string, all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([index, on]) => `CREATE ${kind} ${index} ON ${name} ${on}`);
  return [
    `CREATE TABLE ${name} (${[...columns, ...constraints].join(', ')}) ${words.end}`,
    ...indexing('INDEX', indexes),
    ...indexing('UNIQUE INDEX', uniqueIndexes),
    ...(appendOnly === undefined ? [] : words.appendOnly(name, appendOnly)),
    ...firstRows.map((values) => `INSERT INTO ${name} VALUES ${values}`),
  ];
}

const quoted = (value: string) => `'${value}'`;
