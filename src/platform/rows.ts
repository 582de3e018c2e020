import { type Insertable, type Selectable, sql } from 'kysely';
import type { Reader, Transaction } from './database/database.ts';
import type { TableSet, TablesOf } from './database/table.ts';
import { DomainError, there } from './errors.ts';

type RowIn<Tables extends TableSet, Name extends keyof Tables> = Selectable<TablesOf<Tables>[Name]>;

/** Any table. The types of the caller have already checked the table and its columns. */
type AnyTables = Record<string, Record<string, unknown>>;

interface Lookup {
  /** Message of the `DomainError` `not_found` if no row has the key. Omit it if the row must exist. */
  missing?: string;
  /** True to lock the row until the transaction ends. */
  isLocked?: boolean;
}

/** Returns a function that finds a row of a table by a key. */
export function rowFinder<
  const Tables extends TableSet,
  Name extends keyof Tables & string,
  Key extends keyof RowIn<Tables, Name> & string,
>(_tables: Tables, name: Name, key: Key, { missing, isLocked = false }: Lookup = {}) {
  return async (reader: Reader, value: RowIn<Tables, Name>[Key]): Promise<RowIn<Tables, Name>> => {
    const all = reader.tables<AnyTables>().selectFrom<string>(name).selectAll().where(sql.ref(key), '=', value);
    const rows = isLocked ? all.modifyEnd(reader.sql.locked) : all;
    const row = missing === undefined ? rows.executeTakeFirstOrThrow() : there(await rows.executeTakeFirst(), missing);
    return (await row) as RowIn<Tables, Name>;
  };
}

/** Returns a function that changes a row of a table by a key. */
export function rowChanger<
  const Tables extends TableSet,
  Name extends keyof Tables & string,
  Key extends keyof RowIn<Tables, Name> & string,
>(_tables: Tables, name: Name, key: Key) {
  return async (
    transaction: Transaction,
    row: Pick<RowIn<Tables, Name>, Key>,
    change: Partial<Omit<RowIn<Tables, Name>, Key>>,
  ): Promise<void> => {
    const rows = transaction
      .tables<AnyTables>()
      .updateTable<string>(name)
      .set(change as Record<string, unknown>);
    await rows.where(sql.ref(key), '=', row[key]).execute();
  };
}

/** Returns a function that inserts a row into a table, and returns the row with its number. */
export function rowInserter<const Tables extends TableSet, Name extends keyof Tables & string>(
  _tables: Tables,
  name: Name,
) {
  return async (transaction: Transaction, row: Insertable<TablesOf<Tables>[Name]>): Promise<RowIn<Tables, Name>> => {
    const rows = transaction.tables<AnyTables>().insertInto<string>(name);
    const made = rows.values(row as Record<string, unknown>).returningAll();
    return (await made.executeTakeFirstOrThrow()) as RowIn<Tables, Name>;
  };
}

function valuesOf(row: object, columns: readonly string[]): unknown[] {
  return columns.map((column) => (row as Record<string, unknown>)[column] ?? null);
}

type Sealing = Pick<Reader, 'sealer'>;

/**
 * Returns functions for a table whose rows have a seal over all columns except some.
 * @param unsealed columns that change without an act.
 */
export function sealedRows<
  const Tables extends TableSet,
  Name extends keyof Tables & string,
  Key extends keyof RowIn<Tables, Name> & string,
  Unsealed extends keyof RowIn<Tables, Name> & string,
>(tables: Tables, name: Name, key: Key, unsealed: readonly Unsealed[]) {
  type Row = RowIn<Tables, Name>;
  const left = new Set<string>(['seal', ...unsealed]);
  const columns = Object.keys(tables[name]?.columns ?? {}).filter((column) => !left.has(column));
  const find = rowFinder(tables, name, key, { isLocked: true });
  const sealOf = ({ sealer }: Sealing, row: Omit<Row, 'seal' | Unsealed>) => sealer.of(name, valuesOf(row, columns));
  const isWhole = (reader: Sealing, row: Row) => (row as { seal?: string }).seal === sealOf(reader, row);
  return {
    table: name,
    key,
    /** Returns a row with its seal. */
    sealed: <In extends Omit<Row, 'seal' | Unsealed>>(by: Sealing, row: In) => ({ ...row, seal: sealOf(by, row) }),
    /** Reports whether a row is as the platform wrote it. */
    isWhole,
    /** Returns a row. @throws DomainError `row_changed` if it is not as the platform wrote it. */
    whole<Found extends Row | undefined>(reader: Reader, row: Found): Found {
      if (row !== undefined && !isWhole(reader, row)) throw rowChanged(name);
      return row;
    },
    /** Changes a row. @throws DomainError `row_changed` if it is not as the platform wrote it. */
    async change(
      transaction: Transaction,
      of: Pick<Row, Key>,
      change: Partial<Omit<Row, Key | 'seal'>>,
    ): Promise<void> {
      const row = await find(transaction, of[key]);
      if (!isWhole(transaction, row)) throw rowChanged(name);
      const rows = transaction.tables<AnyTables>().updateTable<string>(name);
      const set = { ...change, seal: sealOf(transaction, { ...row, ...change }) } as Record<string, unknown>;
      await rows.set(set).where(sql.ref(key), '=', of[key]).execute();
    },
  };
}

/** Finds the rows of tables that are not as the platform wrote them. */
export async function unsealedRows(
  reader: Reader,
  tables: readonly { table: string; key: string; isWhole(reader: Sealing, row: never): boolean }[],
): Promise<{ code: string; of: string }[]> {
  const findings: { code: string; of: string }[] = [];
  for (const { table, key, isWhole } of tables)
    for (const row of await reader.tables<AnyTables>().selectFrom<string>(table).selectAll().execute())
      if (!isWhole(reader, row as never))
        findings.push({ code: 'row_seal_mismatch', of: `${table} ${String((row as Record<string, unknown>)[key])}` });
  return findings;
}

/** Returns the refusal of a row that was changed outside the platform. */
export function rowChanged(table: string): DomainError {
  return new DomainError(
    'row_changed',
    `this row of ${table} was changed outside the platform; run \`evidence-platform fsck\``,
  );
}
