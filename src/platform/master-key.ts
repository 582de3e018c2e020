import type { DerivedSealKeys } from './audit/seal-keys.ts';
import type { Database, Reader } from './database/database.ts';
import type { Migrations } from './database/migration.ts';

/** By what a database knows its master key again: a text that is derived from it and says nothing of it. */
interface MasterKeyTables {
  master_key: { id: number; mark: string };
}

export const MASTER_KEY_MIGRATIONS: Migrations = {
  'platform/0001-master-key': ({ text, integer, end }) => [
    `CREATE TABLE master_key (id ${integer} PRIMARY KEY CHECK (id = 1), mark ${text} NOT NULL) ${end}`,
  ],
};

/** Whether a database is one that was written with this master key; a new one is from now on. */
export async function takesMasterKey(database: Database, keys: DerivedSealKeys): Promise<boolean> {
  if ((await markOf(database)) === undefined) {
    const row = { id: 1, mark: keys.mark() };
    await database.write((transaction) =>
      transaction
        .tables<MasterKeyTables>()
        .insertInto('master_key')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute(),
    );
  }
  return hasMasterKey(database, keys);
}

/** Whether a database was written with this master key. */
export async function hasMasterKey(reader: Reader, keys: DerivedSealKeys): Promise<boolean> {
  return (await markOf(reader)) === keys.mark();
}

async function markOf(reader: Reader): Promise<string | undefined> {
  const row = await reader.tables<MasterKeyTables>().selectFrom('master_key').select('mark').executeTakeFirst();
  return row?.mark;
}
