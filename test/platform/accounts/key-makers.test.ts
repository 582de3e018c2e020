import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { ApiKeys } from '../../../src/platform/accounts/keys.ts';
import { SCOPES } from '../../../src/platform/scopes.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { outcomes, PeoplePlace } from './people-place.ts';

const OWNER = byCommand('test');
const NOBODY = '00000000-0000-4000-8000-000000000000';
const INPUT = { name: 'k', scopes: ['keys:write' as const], expires_at: null };

describe.each(DATABASES)('the makers of API keys on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let at: PeoplePlace;
  let keys: ApiKeys;
  let ben: string;
  beforeEach(async () => {
    at = new PeoplePlace((await place.createMigrated()).database);
    const { database, clock, administration } = at;
    keys = new ApiKeys({ database, clock, administration });
    ben = await at.join('ben@example.com', 'operator', 'Ben');
  });

  /** Makes a key. @returns its id. */
  const make = async (actor: string, more: object = {}) =>
    (await keys.make({ name: actor, scopes: SCOPES }, { ...INPUT, ...more })).key.key_id;
  const listed = async (filter: object) =>
    (await keys.list({ limit: 50, ...filter })).data.map(({ key_id }) => key_id).toSorted();

  test('are named with each key, also of a key made with another one, and after a rotation', async () => {
    const own = await make(`person:${ben}`);
    const other = await make(`key:${own}`);
    const third = await make(`key:${other}`);
    const command = await make('command:test');
    const { key } = await keys.rotate({ name: `person:${ben}`, scopes: SCOPES }, command, { overlap_seconds: 0 });
    const maker = { person_id: ben, name: 'Ben', state: 'enabled' };
    for (const id of [own, other, third, key.key_id]) expect(await keys.find(id)).toMatchObject({ maker });
    expect(await keys.find(command)).toMatchObject({ maker_id: null, maker: null });
    expect(await listed({ maker_id: ben })).toEqual([own, other, third, key.key_id].toSorted());
    expect(await listed({ maker_id: NOBODY })).toEqual([]);
  });

  test('are shown when they are disabled, or have a role without a scope of the key', async () => {
    const own = await make(`person:${ben}`);
    const reading = await make(`person:${ben}`, { scopes: ['audit:read'] });
    await make('command:test');
    const state = async (id: string) => (await keys.find(id)).maker?.state;
    await at.accounts.people.changeRole(OWNER, ben, 'auditor');
    expect([await state(own), await state(reading)]).toEqual(['demoted', 'enabled']);
    expect(await listed({ maker_state: 'disabled' })).toEqual([]);
    await at.join('ada@example.com', 'owner');
    await at.accounts.people.disable(OWNER, ben);
    expect([await state(own), await state(reading)]).toEqual(['disabled', 'disabled']);
    expect(await listed({ maker_state: 'disabled' })).toEqual([own, reading].toSorted());
    await at.accounts.people.enable(OWNER, ben);
    expect(await listed({ maker_state: 'disabled' })).toEqual([]);
  });

  test('have their keys ended together, each recorded once, and nobody else has', async () => {
    const own = await make(`person:${ben}`);
    const other = await make(`key:${own}`);
    const command = await make('command:test');
    await keys.revoke(OWNER, await make(`person:${ben}`));
    const expires_at = new Date(at.now + 1000).toISOString();
    await make(`person:${ben}`, { expires_at });
    at.now += 2000;
    const both = await Promise.all([keys.revokeOf(OWNER, ben), keys.revokeOf(OWNER, ben)]);
    expect(both.map(({ revoked }) => revoked).toSorted()).toContain(2);
    expect((await keys.find(command)).revoked_at).toBeNull();
    const revoked = (await at.acts()).filter(({ action }) => action === 'key.revoked').slice(1);
    expect(revoked.map(({ resource_id }) => resource_id).toSorted()).toEqual([own, other].toSorted());
    expect(await keys.revokeOf(OWNER, ben)).toEqual({ revoked: 0 });
    expect(await outcomes([keys.revokeOf(OWNER, NOBODY)])).toEqual(['not_found']);
  });
});
