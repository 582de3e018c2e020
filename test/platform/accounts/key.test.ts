import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Act, byCommand } from '../../../src/platform/accounts/administration.ts';
import {
  type IssuedKey,
  issueKey,
  type KeyInput,
  revokeKey,
  rotateKey,
} from '../../../src/platform/accounts/api-keys.ts';
import { KeyAuthentication } from '../../../src/platform/accounts/authentication.ts';
import { createKey, keyIdOf } from '../../../src/platform/accounts/key.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';

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

describe.each(DATABASES)('API keys on %s', (_name, start) => {
  const NOW = new Date('2026-11-22T12:00:00.000Z');
  const acts: Act[] = [];
  const administration = { record: async (_: unknown, act: Act) => void acts.push(act) };
  let place: DatabasePlace;
  let database: Database;
  let open: () => Database;
  let keys: KeyAuthentication;
  let now = NOW;
  beforeAll(async () => {
    place = await start();
    ({ database, open } = await place.createMigrated());
    keys = new KeyAuthentication(database, () => now, administration);
  });
  afterEach(() => keys.settled());
  afterAll(() => place.close());

  const issuing = { actor: byCommand('test'), now: NOW, administration };
  const issue = (input: Partial<KeyInput> = {}) =>
    database.write((transaction) =>
      issueKey(transaction, { name: 'a key', scopes: ['audit:read'], expiresAt: null, ...input }, issuing),
    );
  const rowOf = ({ key }: IssuedKey) =>
    database
      .tables<AccountTables>()
      .selectFrom('api_keys')
      .selectAll()
      .where('key_id', '=', key.key_id)
      .executeTakeFirstOrThrow();

  test('are known with their name and scopes', async () => {
    const { key, text } = await issue({ name: 'first', scopes: ['keys:read', 'audit:write'] });
    expect(await keys.authenticate(text)).toEqual({
      kind: 'key',
      id: key.key_id,
      name: 'first',
      scopes: ['audit:write', 'keys:read'],
      boundTo: null,
      lineage: key.key_id,
      limits: { streams: null, actor: null },
    });
  });

  test('are recorded as they are made, rotated and revoked, each once', async () => {
    acts.length = 0;
    const { key } = await issue();
    const next = await database.write((transaction) =>
      rotateKey(transaction, key.key_id, { overlap_seconds: 60 }, issuing),
    );
    for (const _ of 'twice') await database.write((transaction) => revokeKey(transaction, key.key_id, issuing));
    expect(acts.map(({ actor, action, of }) => [actor.name, action, of[1]])).toEqual([
      ['command:test', 'key.made', key.key_id],
      ['command:test', 'key.rotated', next.key.key_id],
      ['command:test', 'key.revoked', key.key_id],
    ]);
    expect(acts[1]?.more).toMatchObject({ rotated_from: key.key_id, scopes: ['audit:read'] });
    expect(JSON.stringify(acts)).not.toContain(next.text.slice(-49));
  });

  test('are not known by their shape or their id', async () => {
    const issued = await issue();
    const { text } = createKey();
    const sameId = `sk_${issued.key.key_id}_${text.slice(12, 55)}`;
    for (const wrong of [text, withChecksum(sameId), issued.text.slice(0, -1), ''])
      await expect(keys.authenticate(wrong), wrong).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('leave nothing behind from which they could be had', async () => {
    const issued = await issue();
    expect(JSON.stringify(await rowOf(issued))).not.toContain(issued.text.slice(-49));
  });

  test('are good until they expire, and not after they were revoked', async () => {
    const expiring = await issue({ expiresAt: '2026-11-22T12:00:10.000Z' });
    const revoked = await issue();
    await database.write((transaction) => revokeKey(transaction, revoked.key.key_id, issuing));
    expect(await keys.authenticate(expiring.text)).toMatchObject({ id: expiring.key.key_id });
    await expect(keys.authenticate(revoked.text)).rejects.toMatchObject({ code: 'key_revoked' });
    now = new Date('2026-11-22T12:00:10.000Z');
    await expect(keys.authenticate(expiring.text)).rejects.toMatchObject({ code: 'key_expired' });
    now = NOW;
  });

  test('are no good from the request on that follows their revocation, in whichever process that was', async () => {
    const other = open();
    for (const revoking of [database, other]) {
      const { key, text } = await issue();
      const [here, there] = [keys, new KeyAuthentication(other, () => now, administration)];
      for (const each of [here, there, here, there]) expect((await each.authenticate(text)).id).toBe(key.key_id);
      await Promise.all([here.settled(), there.settled()]);
      // A concurrent reader sees the old key.
      await database.snapshot(async (reader) => {
        const seen = () => reader.tables<AccountTables>().selectFrom('api_keys').select('revoked_at');
        const asSeen = () => seen().where('key_id', '=', key.key_id).executeTakeFirst();
        expect(await asSeen()).toEqual({ revoked_at: null });
        await revoking.write((transaction) => revokeKey(transaction, key.key_id, issuing));
        for (const each of [here, there])
          await expect(each.authenticate(text)).rejects.toMatchObject({ code: 'key_revoked' });
        expect(await asSeen()).toEqual({ revoked_at: null });
      });
    }
  });

  test('are known to have been used, to the minute', async () => {
    const issued = await issue();
    const used = [];
    for (const second of [0, 20, 59, 60, 61]) {
      now = new Date(NOW.getTime() + second * 1000);
      await Promise.all([keys.authenticate(issued.text), keys.authenticate(issued.text)]);
      await keys.settled();
      used.push((await rowOf(issued)).last_used_at);
    }
    now = NOW;
    const [first, later] = ['2026-11-22T12:00:00.000Z', '2026-11-22T12:01:00.000Z'];
    expect(used).toEqual([first, first, first, later, later]);
  });
});

/** Returns a key with another text and its correct checksum. */
function withChecksum(body: string): string {
  const rest = crc32(body);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const digits = Array.from({ length: 6 }, (_, place) => alphabet[Math.floor(rest / 62 ** (5 - place)) % 62]);
  return body + digits.join('');
}
