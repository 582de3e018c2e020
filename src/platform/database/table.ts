import type { Generated } from 'kysely';
import type { ColumnKind, Columns } from './database.ts';
import type { Migration, TableWords } from './migration.ts';

/** Column of a table, with the type that queries read and write. */
interface TableColumn<Value> {
  kind: ColumnKind;
  /** Returns the name and the SQL type, with the constraints of the type. */
  define(words: TableWords, name: string): string;
  isOptional: boolean;
  /** Other SQL constraints. */
  constraints: string;
  /** Carrier of the type, which no column sets. */
  value?: Value;
}

/** Columns by name. */
type ColumnSet = Readonly<Record<string, TableColumn<unknown>>>;

interface TableOptions {
  /** Constraints over several columns. */
  constraints?: readonly string[];
  /** Indexes by name: the SQL after the table's name. */
  indexes?: Readonly<Record<string, string>>;
  uniqueIndexes?: Readonly<Record<string, string>>;
  /** Columns of each unique key, for a table whose rows are never changed or deleted. */
  appendOnly?: readonly (readonly string[])[];
  /** Name of the table with the terms of the rows, which are blocks of another table. */
  postings?: string;
  /** Values of the rows that the table starts with. */
  firstRows?: readonly string[];
}

interface TableDeclaration<Set extends ColumnSet> extends TableOptions {
  columns: Set;
}

export type TableSet = Readonly<Record<string, TableDeclaration<ColumnSet>>>;

/** Type of a table's rows in queries. */
type RowOf<T> =
  T extends TableDeclaration<infer Set>
    ? { [Name in keyof Set]: Set[Name] extends TableColumn<infer Value> ? Value : never }
    : never;

/** Type argument of `Reader.tables`. */
export type TablesOf<Set> = { [Name in keyof Set]: RowOf<Set[Name]> };

function required<Value>(kind: ColumnKind, define: TableColumn<Value>['define'], constraints = ''): TableColumn<Value> {
  return { kind, define, isOptional: false, constraints };
}

/** Returns a primary key that the database assigns in ascending order. */
function ordinal(): TableColumn<Generated<number>> {
  return required('integer', (words, name) => `${name} ${words.ordinal}`);
}

/** Returns a column of text that is compared byte by byte, whatever the locale. @param constraints in SQL. */
function text<Value extends string = string>(constraints = ''): TableColumn<Value> {
  return required('text', (words, name) => `${name} ${words.text}`, constraints);
}

/** Returns a column with one of several texts. */
function oneOf<const Value extends string>(values: readonly Value[]): TableColumn<Value> {
  return required(
    'text',
    (words, name) => `${name} ${words.text} CHECK (${name} IN (${values.map(quoted).join(', ')}))`,
  );
}

/** Returns a column of 64-bit integers. @param constraints in SQL. */
function integer(constraints = ''): TableColumn<number> {
  return required('integer', (words, name) => `${name} ${words.integer}`, constraints);
}

/** Returns a column with 0 or 1. */
function flag(): TableColumn<number> {
  return required('integer', (words, name) => `${name} ${words.integer} CHECK (${name} IN (0, 1))`);
}

function bytes(): TableColumn<Uint8Array> {
  return required('bytes', (words, name) => `${name} ${words.bytes}`);
}

/** Returns a column of lower-case hex SHA-256. @param constraints in SQL. */
function digest(constraints = ''): TableColumn<string> {
  return required('text', (words, name) => words.digest(name), constraints);
}

/** Returns a column with the text of a JSON object. */
function jsonObject(): TableColumn<string> {
  return required('text', (words, name) => `${name} ${words.text} CHECK (${words.isObject(name)})`);
}

/** Returns a column that may be null. */
function optional<Value>({ kind, define, constraints }: TableColumn<Value>): TableColumn<Value | null> {
  return { kind, define, isOptional: true, constraints };
}

export const column = { ordinal, text, oneOf, integer, flag, bytes, digest, jsonObject, optional };

export function table<Set extends ColumnSet>(columns: Set, options: TableOptions = {}): TableDeclaration<Set> {
  return { columns, ...options };
}

/** Returns the statements that create tables, in order. */
export function creationOf(tables: TableSet): Migration {
  return (words) => Object.entries(tables).flatMap(([name, made]) => statementsOf(words, name, made));
}

/** Returns the kinds of some columns, or of all, in order, for `insertAll` and `updateAll`. */
export function kindsOf<Set extends ColumnSet>(
  { columns }: TableDeclaration<Set>,
  names: readonly (keyof Set & string)[] = Object.keys(columns),
): Columns {
  return Object.fromEntries(names.map((name) => [name, columns[name]?.kind ?? 'text']));
}

/** Returns only these members of a row, as an explicit allow-list of served members. */
export function pick<Row, const Name extends keyof Row>(row: Row, names: readonly Name[]): Pick<Row, Name> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
}

function statementsOf(words: TableWords, name: string, made: TableDeclaration<ColumnSet>): string[] {
  const columns = Object.entries(made.columns).map(
    ([its, { define, isOptional, constraints: more }]) =>
      `${define(words, its)} ${isOptional ? '' : 'NOT NULL'} ${more}`,
  );
  const { constraints = [], indexes = {}, uniqueIndexes = {}, appendOnly, postings, firstRows = [] } = made;
  const indexing = (kind: string, all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([index, on]) => `CREATE ${kind} ${index} ON ${name} ${on}`);
  return [
    `CREATE TABLE ${name} (${[...columns, ...constraints].join(', ')}) ${words.end}`,
    ...indexing('INDEX', indexes),
    ...indexing('UNIQUE INDEX', uniqueIndexes),
    ...(appendOnly === undefined ? [] : words.appendOnly(name, appendOnly)),
    ...(postings === undefined ? [] : postingsOf(words, postings)),
    ...firstRows.map((values) => `INSERT INTO ${name} VALUES ${values}`),
  ];
}

function postingsOf({ postings: { kind, definition, index } }: TableWords, name: string): string[] {
  const indexing = index === null ? [] : [`CREATE INDEX ${name}_by_term ON ${name} ${index}`];
  return [`CREATE ${kind} ${name} ${definition}`, ...indexing];
}

const quoted = (value: string) => `'${value}'`;
