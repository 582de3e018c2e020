import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockAgent } from '../../../src/platform/agents/agent-rows.ts';
import type { AgentTables } from '../../../src/platform/agents/tables.ts';
import { endLeases } from '../../../src/platform/agents/vault/vault-rows.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { setState } from './rows.ts';
import { keyOf, OWN_KEY, VaultPlace } from './vault-place.ts';

const HOUR = 60 * 60_000;
const SECRET = 'correct-horse-battery-staple';

/**
 * Ways in which an attacker with database access can move sealed values. A is the agent that owns the value, B another
 * one.
 */
const MOVED: [name: string, statement: (a: number, b: number) => string][] = [
  [
    'the ciphertext of another agent',
    (a, b) => `UPDATE agent_secrets SET sealed = (SELECT sealed FROM agent_secrets WHERE agent_no = ${a} AND name = 'x')
      WHERE agent_no = ${b} AND name = 'x'`,
  ],
  [
    'the ciphertext of another name',
    (
      _a,
      b,
    ) => `UPDATE agent_secrets SET sealed = (SELECT sealed FROM agent_secrets WHERE agent_no = ${b} AND name = 'y')
      WHERE agent_no = ${b} AND name = 'x'`,
  ],
  [
    'the whole row of another agent, under its name',
    (a, b) => `DELETE FROM agent_secrets WHERE agent_no = ${b} AND name = 'x';
      UPDATE agent_secrets SET agent_no = ${b} WHERE agent_no = ${a} AND name = 'x'`,
  ],
  [
    'the key of another vault',
    (a, b) => `UPDATE agent_vaults SET sealed_key = (SELECT sealed_key FROM agent_vaults WHERE agent_no = ${a})
      WHERE agent_no = ${b}`,
  ],
  [
    'the key of another vault, and what it sealed',
    (a, b) => `UPDATE agent_vaults SET sealed_key = (SELECT sealed_key FROM agent_vaults WHERE agent_no = ${a})
      WHERE agent_no = ${b};
      UPDATE agent_secrets SET sealed = (SELECT sealed FROM agent_secrets WHERE agent_no = ${a} AND name = 'x')
      WHERE agent_no = ${b} AND name = 'x'`,
  ],
  ['another version', (_a, b) => `UPDATE agent_secrets SET version = version + 1 WHERE agent_no = ${b} AND name = 'x'`],
];

describe.each(DATABASES)('vaults on %s', (_name, start) => {
  let databases: DatabasePlace;
  let made: Awaited<ReturnType<DatabasePlace['create']>>;
  const masterKey = randomBytes(32);
  let place: VaultPlace;
  beforeAll(async () => {
    databases = await start();
    made = await databases.createMigrated();
    place = await VaultPlace.at(made.database, masterKey);
  });
  afterAll(() => databases.close());

  const put = (agentId: string, name: string, value: string) =>
    place.vaults.put(keyOf(agentId), agentId, { name, value });
  const get = (agentId: string, name: string) => place.vaults.get(keyOf(agentId), agentId, name);
  const numberOf = async (agentId: string) => {
    const [row] = await made.query(`SELECT agent_no FROM agents WHERE agent_id = '${agentId}'`);
    return Number((row as { agent_no: number }).agent_no);
  };

  test('a secret is put, listed, taken under a lease, put anew and removed; each access is an entry without its value', async () => {
    const id = await place.onboarded();
    expect(await put(id, 'db', SECRET)).toEqual({ name: 'db', version: 1, put_at: expect.any(String) });
    expect(await put(id, 'db', `${SECRET}-2`)).toMatchObject({ version: 2 });
    expect(await place.vaults.contents(keyOf(id), id)).toMatchObject({
      status: 'open',
      encryption: expect.stringContaining('AES-256-GCM'),
      tools: ['search'],
      secrets: [{ name: 'db', version: 2 }],
    });
    const until = new Date(place.now + HOUR).toISOString();
    const taken = await get(id, 'db');
    expect(taken).toMatchObject({ value: `${SECRET}-2`, version: 2, lease: { until } });
    expect(await place.vaults.list(id)).toMatchObject({
      leases: 1,
      decoys: [],
      secrets: [{ name: 'db', put_by: `agent:${id}`, last_taken_at: new Date(place.now).toISOString() }],
    });
    await place.vaults.remove(OWN_KEY, id, 'db');
    await expect(get(id, 'db')).rejects.toMatchObject({ code: 'not_found' });
    expect(await place.vaults.list(id)).toMatchObject({ leases: 0, secrets: [] });
    const entries = await place.accesses(id);
    expect(entries.map(({ action, actor, resource_id, metadata }) => [action, actor, resource_id, metadata])).toEqual([
      ['vault.secret_put', `agent:${id}`, 'db', { version: 1 }],
      ['vault.secret_put', `agent:${id}`, 'db', { version: 2 }],
      ['vault.listed', `agent:${id}`, expect.any(String), { secrets: 1, tools: 1 }],
      ['vault.secret_taken', `agent:${id}`, 'db', { version: 2, ...taken.lease }],
      ['vault.secret_removed', 'key:k1', 'db', { version: 2, ended_leases: 1 }],
      ['vault.refused', `agent:${id}`, 'db', { asked: 'get', because: 'not_found' }],
    ]);
    expect(JSON.stringify(entries)).not.toContain(SECRET);
  });

  test('whoever has the database has no value, and each agent has a key of its own', async () => {
    const [one, other] = [await place.onboarded(), await place.onboarded()];
    const values = Array.from({ length: 5 }, () => randomBytes(24).toString('base64url'));
    for (const [at, value] of values.entries()) await put(one, `a-name-that-is-there-${at}`, value);
    await put(other, 'the-same', values[0] ?? '');
    const { value } = await place.decoy(one, { kind: 'secret', name: 'root-token' }).then(() => get(one, 'root-token'));
    const dump = place.dump();
    expect(dump.includes('a-name-that-is-there-4')).toBe(true);
    for (const secret of [...values, value])
      for (const written of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
        expect(dump.includes(written)).toBe(false);
    const rows = (await made.query('SELECT sealed_key FROM agent_vaults')) as { sealed_key: Uint8Array }[];
    expect(new Set(rows.map(({ sealed_key }) => Buffer.from(sealed_key).toString('hex'))).size).toBe(rows.length);
  });

  test('another master key opens nothing', async () => {
    const id = await place.onboarded();
    await put(id, 'x', SECRET);
    const stranger = new VaultPlace(made.open());
    await expect(stranger.vaults.get(keyOf(id), id, 'x')).rejects.toThrow(/authenticate|decrypt/i);
    const again = new VaultPlace(made.open(), masterKey);
    expect((await again.vaults.get(keyOf(id), id, 'x')).value).toBe(SECRET);
  });

  test('what was sealed for one agent does not open for another one, even under the same key', async () => {
    const [a, b] = [await place.onboarded(), await place.onboarded()];
    await put(a, 'x', SECRET);
    await put(b, 'x', 'of the other');
    const box = new SecretBox(masterKey, 'agents/vaults');
    const vaults = place.database.tables<AgentTables>().selectFrom('agent_vaults').selectAll();
    const { sealed_key } = await vaults.where('agent_no', '=', await numberOf(a)).executeTakeFirstOrThrow();
    const sameKey = box.seal(box.open(sealed_key, a), b);
    const otherNo = await numberOf(b);
    await place.database.write((transaction) =>
      transaction
        .tables<AgentTables>()
        .updateTable('agent_vaults')
        .set({ sealed_key: sameKey })
        .where('agent_no', '=', otherNo)
        .execute(),
    );
    await made.query(MOVED[0]?.[1](await numberOf(a), await numberOf(b)) ?? '');
    await expect(get(b, 'x')).rejects.toThrow(/authenticate|decrypt/i);
    expect((await get(a, 'x')).value).toBe(SECRET);
  });

  test('a whole older row opens, as an older database does, and the stream shows that it is older', async () => {
    const id = await place.onboarded();
    await put(id, 'x', SECRET);
    const [older] = (await made.query(
      `SELECT secret_no, version, sealed FROM agent_secrets WHERE agent_no = ${await numberOf(id)}`,
    )) as { secret_no: number; version: number; sealed: Uint8Array }[];
    await put(id, 'x', 'another one');
    const { secret_no = 0, version = 0, sealed = Buffer.of() } = older ?? {};
    const hex = Buffer.from(sealed).toString('hex');
    const bytes = made.database.dialect === 'sqlite' ? `x'${hex}'` : `decode('${hex}', 'hex')`;
    await made.query(`UPDATE agent_secrets SET version = ${version}, sealed = ${bytes} WHERE secret_no = ${secret_no}`);
    expect((await get(id, 'x')).value).toBe(SECRET);
    const said = (await place.accesses(id)).map(({ action, metadata }) => [action, metadata['version']]);
    expect(said).toEqual([
      ['vault.secret_put', 1],
      ['vault.secret_put', 2],
      ['vault.secret_taken', 1],
    ]);
  });

  test.each(MOVED)('%s does not open', async (_name, statement) => {
    const [a, b] = [await place.onboarded(), await place.onboarded()];
    for (const id of [a, b]) for (const name of ['x', 'y']) await put(id, name, `${SECRET} ${name} of ${id}`);
    expect((await get(b, 'x')).value).toBe(`${SECRET} x of ${b}`);
    for (const each of statement(await numberOf(a), await numberOf(b)).split(';')) await made.query(each);
    await expect(get(b, 'x')).rejects.toThrow(/authenticate|decrypt/i);
    expect((await place.accesses(b)).filter(({ action }) => action === 'vault.secret_taken')).toHaveLength(1);
  });

  test.each([
    [
      'the agent itself',
      'suspended',
      keyOf,
      { list: 'agent_suspended', get: 'agent_suspended', put: 'agent_suspended', remove: 'agent_suspended' },
    ],
    [
      'somebody else',
      'suspended',
      () => OWN_KEY,
      { list: 'done', get: 'agent_suspended', put: 'done', remove: 'done' },
    ],
    [
      'the agent itself',
      'revoked',
      keyOf,
      { list: 'agent_revoked', get: 'agent_revoked', put: 'agent_revoked', remove: 'agent_revoked' },
    ],
    [
      'somebody else',
      'revoked',
      () => OWN_KEY,
      { list: 'done', get: 'agent_revoked', put: 'agent_revoked', remove: 'done' },
    ],
  ] as const)('what %s may do with the vault of one that is %s', async (_who, state, principalOf, outcomes) => {
    const id = await place.onboarded();
    await put(id, 'x', SECRET);
    await setState(place.database, id, state);
    const { vaults } = place;
    const come = (asked: Promise<unknown>) =>
      asked.then(
        () => 'done',
        ({ code }: { code: string }) => code,
      );
    expect({
      list: await come(vaults.contents(principalOf(id), id)),
      get: await come(vaults.get(principalOf(id), id, 'x')),
      put: await come(vaults.put(principalOf(id), id, { name: 'x', value: 'y' })),
      remove: await come(vaults.remove(principalOf(id), id, 'x')),
    }).toEqual(outcomes);
    const refused = (await place.accesses(id)).filter(({ action }) => action === 'vault.refused');
    expect(refused.map(({ metadata }) => metadata)).toEqual(
      Object.entries(outcomes)
        .filter(([, code]) => code !== 'done')
        .map(([asked, because]) => ({ asked, because })),
    );
  });

  test('the key of another agent gets nothing, and leaves nothing behind', async () => {
    const [one, other] = [await place.onboarded(), await place.onboarded()];
    await put(one, 'x', SECRET);
    const before = await place.accesses(one);
    const { vaults } = place;
    for (const asked of [
      () => vaults.get(keyOf(other), one, 'x'),
      () => vaults.put(keyOf(other), one, { name: 'x', value: 'y' }),
      () => vaults.remove(keyOf(other), one, 'x'),
      () => vaults.contents(keyOf(other), one),
    ])
      await expect((async () => asked())()).rejects.toMatchObject({ code: 'forbidden' });
    expect(await place.accesses(one)).toEqual(before);
  });

  test('an agent that was not onboarded has no vault', async () => {
    const id = await place.onboarded();
    await made.query(`DELETE FROM agent_vaults WHERE agent_no = ${await numberOf(id)}`);
    expect(await place.vaults.list(id)).toMatchObject({ vault_id: null, status: 'none', secrets: [] });
    await expect(put(id, 'x', SECRET)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('leases end by themselves, or all at once, and then say whose values are out', async () => {
    const [id, other] = [await place.onboarded(), await place.onboarded()];
    for (const name of ['b', 'a', 'old']) await put(id, name, SECRET);
    await put(other, 'a', SECRET);
    await get(other, 'a');
    await get(id, 'old');
    place.now += HOUR;
    for (const name of ['b', 'a', 'a']) await get(id, name);
    expect((await place.vaults.list(id)).leases).toBe(3);
    const end = () =>
      place.database.write(async (transaction) =>
        endLeases(transaction, await lockAgent(transaction, id), { because: 'kill_switch', now: new Date(place.now) }),
      );
    expect(await end()).toEqual({ ended: 3, handed_out: ['a', 'b'] });
    expect(await end()).toEqual({ ended: 0, handed_out: [] });
    expect((await place.vaults.list(id)).leases).toBe(0);
    const ended = `SELECT name FROM agent_leases WHERE ended_because = 'kill_switch'`;
    expect(await made.query(ended)).toHaveLength(3);
  });

  test('many who take at once each get their lease and their entry', async () => {
    const id = await place.onboarded();
    await put(id, 'x', SECRET);
    await Promise.all(Array.from({ length: 20 }, () => get(id, 'x')));
    expect((await place.vaults.list(id)).leases).toBe(20);
    expect((await place.accesses(id)).filter(({ action }) => action === 'vault.secret_taken')).toHaveLength(20);
  });
});
