import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { SqliteDatabase } from 'kysely';
import { asOutage } from './outage.ts';

/** Number of prepared statements cached per connection. */
const PREPARED = 500;

/** `node:sqlite` with the interface of Kysely's dialect, and a cache of prepared statements. */
export class Prepared implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, ReturnType<typeof toKysely>>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  close(): void {
    this.#database.close();
  }

  prepare(sql: string) {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = toKysely(this.#database.prepare(sql));
      if (this.#statements.size >= PREPARED) this.#statements.clear();
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function toKysely(statement: StatementSync) {
  const names = statement.columns().map(({ name }) => name);
  const toRow = (values: unknown) => {
    const row: Record<string, SQLOutputValue> = {};
    for (const [at, name] of names.entries()) row[name] = (values as SQLOutputValue[])[at] as SQLOutputValue;
    return row;
  };
  // Arrays are faster than the driver's objects, which are slow to create and to read.
  statement.setReturnArrays(true);
  return {
    reader: names.length > 0,
    all: (parameters: readonly unknown[]) =>
      reporting(() => statement.all(...(parameters as SQLInputValue[])).map(toRow)),
    run: (parameters: readonly unknown[]) => reporting(() => statement.run(...(parameters as SQLInputValue[]))),
    *iterate(parameters: readonly unknown[]) {
      for (const values of statement.iterate(...(parameters as SQLInputValue[]))) yield toRow(values);
    },
  };
}

/** Runs a statement. Its errors are those of `asOutage`. */
function reporting<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw asOutage(error);
  }
}
