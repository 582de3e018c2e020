import type { DerivedSealKeys } from './audit/seal-keys.ts';
import { countStreams } from './audit/totals.ts';
import type { Database, Reader, Transaction } from './database/database.ts';
import { column, type TablesOf, table } from './database/table.ts';

export const MASTER_KEY_TABLES = {
  /** Mark of the master key, in one row: derived from the key, and identifying the key without revealing it. */
  master_key: table({ id: column.integer('PRIMARY KEY CHECK (id = 1)'), mark: column.text() }),
};

type MasterKeyTables = TablesOf<typeof MASTER_KEY_TABLES>;

/**
 * Checks that a database may be used with this master key: its mark is absent or matches. Stores the mark if it is
 * absent and there are streams.
 */
export async function takesMasterKey(database: Database, keys: DerivedSealKeys): Promise<boolean> {
  const mark = await markOf(database);
  if (mark !== undefined) return mark === keys.mark();
  if ((await countStreams(database)) > 0) await database.write((transaction) => keepMasterKey(transaction, keys));
  return true;
}

/** Writes to no row. @throws OutageError if the database accepts no writes. */
export async function changeNothing(transaction: Transaction): Promise<void> {
  await transaction.tables<MasterKeyTables>().updateTable('master_key').set({ id: 1 }).where('id', '=', 0).execute();
}

/** Stores the mark of the master key in a database. */
export async function keepMasterKey(transaction: Transaction, keys: DerivedSealKeys): Promise<void> {
  const row = { id: 1, mark: keys.mark() };
  const insert = transaction.tables<MasterKeyTables>().insertInto('master_key').values(row);
  await insert.onConflict((conflict) => conflict.column('id').doNothing()).execute();
}

/** Reports whether a database was written with this master key. */
export async function hasMasterKey(reader: Reader, keys: DerivedSealKeys): Promise<boolean> {
  return (await markOf(reader)) === keys.mark();
}

async function markOf(reader: Reader): Promise<string | undefined> {
  const row = await reader.tables<MasterKeyTables>().selectFrom('master_key').select('mark').executeTakeFirst();
  return row?.mark;
}
