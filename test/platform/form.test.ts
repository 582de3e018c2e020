import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DerivedSealKeys } from '../../src/platform/audit/seal-keys.ts';
import { hasMasterKey, keepMasterKey, takesMasterKey } from '../../src/platform/master-key.ts';
import { isMigrated, migrateAll } from '../../src/platform/migrations.ts';
import { DATABASES, type DatabasePlace } from './database/databases.ts';

const KEYS = new DerivedSealKeys(Buffer.alloc(32, 1));
const OTHERS = new DerivedSealKeys(Buffer.alloc(32, 2));

describe.each(DATABASES)('a database on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  test('that knows its master key takes no other', async () => {
    const { database } = await place.create();
    await migrateAll(database);
    expect([await takesMasterKey(database, KEYS), await takesMasterKey(database, OTHERS)]).toEqual([true, true]);
    expect(await hasMasterKey(database, KEYS)).toBe(false);
    await database.write((transaction) => keepMasterKey(transaction, KEYS));
    expect(await takesMasterKey(database, KEYS)).toBe(true);
    expect(await takesMasterKey(database, OTHERS)).toBe(false);
    expect([await hasMasterKey(database, KEYS), await hasMasterKey(database, OTHERS)]).toEqual([true, false]);
  });

  test('has the form of this version until a later one, or an earlier one, has changed it', async () => {
    const { database } = await place.create();
    await migrateAll(database);
    expect(await isMigrated(database)).toBe(true);
    const change = (statement: string) =>
      database.write((transaction) => sql.raw(statement).execute(transaction.tables()));
    await change("INSERT INTO platform_migrations (name, timestamp) VALUES ('zz', 'now')");
    expect(await isMigrated(database)).toBe(false);
    await change("DELETE FROM platform_migrations WHERE name IN ('zz', 'jobs/0001')");
    expect(await isMigrated(database)).toBe(false);
  });
});
