import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { createKey, keyIdOf } from '../../src/platform/accounts/key.ts';
import { KeyStore } from '../../src/platform/accounts/store.ts';
import { migrate } from '../../src/platform/store/migrations.ts';
import { kyselyOver } from '../../src/platform/store/sqlite.ts';

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

describe('the key store', async () => {
  const database = new DatabaseSync(':memory:');
  await migrate(kyselyOver(database));
  const store = new KeyStore(database);

  test('knows its keys, and neither another of the right shape nor one with a stored id', () => {
    const text = store.create('first', new Date());
    expect(store.authenticate(text)).toBe(keyIdOf(text));
    expect(store.authenticate(createKey().text)).toBeNull();
    database.prepare('UPDATE api_keys SET sha256 = ?').run(createKey().sha256);
    expect(store.authenticate(text)).toBeNull();
  });

  test('keeps nothing from which a key could be had', () => {
    const text = store.create('second', new Date());
    const secret = text.slice(-49);
    expect(JSON.stringify(database.prepare('SELECT * FROM api_keys').all())).not.toContain(secret);
  });

  test('does not know a revoked key', () => {
    const text = store.create('third', new Date());
    database
      .prepare('UPDATE api_keys SET revoked_at = ? WHERE key_id = ?')
      .run('2026-11-21T00:00:00.000Z', keyIdOf(text));
    expect(store.authenticate(text)).toBeNull();
  });
});
