import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey, keyIdOf } from '../../src/platform/accounts/key.ts';
import { type AccountTables, KeyStore } from '../../src/platform/accounts/store.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { migrateAll } from '../../src/platform/migrations.ts';
import { DATABASES, type DatabasePlace } from './database/databases.ts';

describe('an API key', () => {
  test('has the documented shape, and no two are alike', () => {
    const keys = Array.from({ length: 200 }, createKey);
    for (const { id, text } of keys) expect(text).toMatch(new RegExp(`^sk_${id}_[0-9A-Za-z]{49}$`));
    expect(new Set(keys.map(({ text }) => text)).size).toBe(200);
  });

  test('shows its id only while its checksum holds', () => {
    const { id, text } = createKey();
    expect(keyIdOf(text)).toBe(id);
    for (let at = 3; at < text.length; at++) {
      const other = text[at] === 'a' ? 'b' : 'a';
      expect(keyIdOf(text.slice(0, at) + other + text.slice(at + 1))).toBeNull();
    }
    expect(keyIdOf(`${text} `)).toBeNull();
    expect(keyIdOf('')).toBeNull();
  });
});

describe.each(DATABASES)('the key store on %s', (_name, start) => {
  let place: DatabasePlace;
  let database: Database;
  let store: KeyStore;
  beforeAll(async () => {
    place = await start();
    database = (await place.create()).database;
    await migrateAll(database);
    store = new KeyStore(database);
  });
  afterAll(() => place.close());

  const change = (values: Partial<AccountTables['api_keys']>, keyId: string | null) =>
    database.write((transaction) =>
      transaction
        .tables<AccountTables>()
        .updateTable('api_keys')
        .set(values)
        .where('key_id', '=', keyId ?? '')
        .execute(),
    );

  test('knows its keys, and neither another of the right shape nor one with a stored id', async () => {
    const text = await store.create('first', new Date());
    expect(await store.authenticate(text)).toBe(keyIdOf(text));
    expect(await store.authenticate(createKey().text)).toBeNull();
    await change({ sha256: createKey().sha256 }, keyIdOf(text));
    expect(await store.authenticate(text)).toBeNull();
  });

  test('keeps nothing from which a key could be had', async () => {
    const text = await store.create('second', new Date());
    const rows = await database.tables<AccountTables>().selectFrom('api_keys').selectAll().execute();
    expect(rows.map(({ name }) => name)).toContain('second');
    expect(JSON.stringify(rows)).not.toContain(text.slice(-49));
  });

  test('does not know a revoked key', async () => {
    const text = await store.create('third', new Date());
    await change({ revoked_at: '2026-11-21T00:00:00.000Z' }, keyIdOf(text));
    expect(await store.authenticate(text)).toBeNull();
  });
});
