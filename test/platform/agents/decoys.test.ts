import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockAgent } from '../../../src/platform/agents/agent-rows.ts';
import { writeEntries } from '../../../src/platform/agents/entries.ts';
import { decoyToolsOf } from '../../../src/platform/agents/vault/decoys.ts';
import { UNKNOWN_ASKER } from '../../../src/platform/agents/vault/tripping.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { setState } from './rows.ts';
import { keyOf, OWN_KEY, VaultPlace } from './vault-place.ts';

const ASKER = { address: '203.0.113.9', userAgent: 'an-agent/1' };

describe.each(DATABASES)('decoys in vaults on %s', (_name, start) => {
  let databases: DatabasePlace;
  let place: VaultPlace;
  beforeAll(async () => {
    databases = await start();
    place = await VaultPlace.at((await databases.createMigrated()).database);
  });
  afterAll(() => databases.close());

  const scoreOf = async (agentId: string) => (await place.service.agents.find(agentId)).score;
  /** Returns an agent's detections, alerts and entries since the start of `work`. */
  const since = async (work: () => Promise<unknown>, agentId: string) => {
    const [detections, alerts] = [(await place.detections()).length, place.alerts.length];
    const entries = (await place.accesses(agentId)).length;
    await work();
    return {
      detections: (await place.detections()).slice(0, (await place.detections()).length - detections),
      alerts: place.alerts.slice(alerts).map(({ source, kind, severity }) => [source, kind, severity]),
      entries: (await place.accesses(agentId)).slice(entries),
    };
  };

  test('an agent cannot tell a decoy from the rest', async () => {
    const id = await place.onboarded();
    await place.vaults.put(OWN_KEY, id, { name: 'db', value: 'a password' });
    await place.decoy(id, { kind: 'secret', name: 'payments-api' });
    await place.decoy(id, { kind: 'tool', name: 'export_customers' });
    const { secrets, tools } = await place.vaults.contents(keyOf(id), id);
    expect(tools).toEqual(['export_customers', 'search']);
    expect(secrets.map(({ name }) => name)).toEqual(['db', 'payments-api']);
    const [real, decoy] = secrets;
    expect(Object.keys(decoy ?? {})).toEqual(Object.keys(real ?? {}));
    const [one, other] = [
      await place.vaults.get(keyOf(id), id, 'db'),
      await place.vaults.get(keyOf(id), id, 'payments-api'),
    ];
    expect(shapeOf(other)).toEqual(shapeOf(one));
    expect(`${JSON.stringify(other)}`).not.toMatch(/trap|decoy|canary|honey|bait|fake/i);
  });

  test('reading a decoy is a detection, two alerts, a line of the ledger and entries, in one transaction', async () => {
    const id = await place.onboarded();
    const decoy = await place.decoy(id, { kind: 'secret', name: 'root-token' });
    const before = await scoreOf(id);
    const { detections, alerts, entries } = await since(() => place.vaults.get(keyOf(id), id, 'root-token', ASKER), id);
    expect(detections).toMatchObject([
      {
        credential_id: decoy.credential_id,
        credential_type: 'agent_secret',
        plant_location: 'agent_vault',
        channel: 'vault_read',
        depth: 'read',
        severity: 'medium',
        auth_verified: true,
        service: 'agents',
        source_ip: ASKER.address,
        user_agent: ASKER.userAgent,
        action: `read the secret "root-token" as agent:${id}`,
      },
    ]);
    expect(alerts).toEqual([
      ['traps', 'trap.used', 'medium'],
      ['agents', 'agent.decoy_used', 'critical'],
    ]);
    expect(await scoreOf(id)).toBe(before - 30);
    const detection_id = detections[0]?.detection_id;
    expect(entries.map(({ action, metadata }) => [action, metadata])).toEqual([
      ['vault.secret_taken', expect.objectContaining({ version: 1 })],
      ['vault.decoy_used', expect.objectContaining({ name: 'root-token', use: 'read', kind: 'secret', detection_id })],
    ]);
    const trap = await place.traps.traps.find(decoy.credential_id);
    expect(trap).toMatchObject({ status: 'triggered', detection_count: 1 });
  });

  test('where its entries cannot be written nothing is: no detection, no lease, no line, and no value', async () => {
    const id = await place.onboarded();
    const { credential_id } = await place.decoy(id, { kind: 'secret', name: 'x' });
    const before = await scoreOf(id);
    place.fault = 'after';
    const { detections, entries } = await since(
      () => expect(place.vaults.get(keyOf(id), id, 'x')).rejects.toThrow('a fault'),
      id,
    ).finally(() => {
      place.fault = null;
    });
    expect([detections, entries, (await place.vaults.list(id)).leases]).toEqual([[], [], 0]);
    expect(await scoreOf(id)).toBe(before);
    expect(await place.traps.traps.find(credential_id)).toMatchObject({ status: 'planted', detection_count: 0 });
  });

  test('who reads on is suspended, and then gets nothing', async () => {
    const id = await place.onboarded();
    await place.decoy(id, { kind: 'secret', name: 'x' });
    await place.vaults.get(keyOf(id), id, 'x');
    expect(await place.service.agents.find(id)).toMatchObject({ state: 'active', score: 30, tier: 'RESTRICTED' });
    await place.vaults.get(keyOf(id), id, 'x');
    expect(await place.service.agents.find(id)).toMatchObject({
      state: 'suspended',
      score: 0,
      suspended_because: 'auto',
    });
    const { detections, entries } = await since(
      () => expect(place.vaults.get(keyOf(id), id, 'x')).rejects.toMatchObject({ code: 'agent_suspended' }),
      id,
    );
    expect(detections).toEqual([]);
    expect(entries).toMatchObject([
      { action: 'vault.refused', metadata: { asked: 'get', because: 'agent_suspended' } },
    ]);
  });

  test.each([
    ['overwritten', (id: string) => place.vaults.put(keyOf(id), id, { name: 'x', value: 'mine' })],
    ['removed', (id: string) => place.vaults.remove(keyOf(id), id, 'x')],
  ] as const)('a decoy that is %s is worked with, and answers like any other', async (use, work) => {
    const id = await place.onboarded();
    await place.decoy(id, { kind: 'secret', name: 'x' });
    const { detections, entries } = await since(() => work(id), id);
    expect(detections).toMatchObject([{ channel: 'vault_read', depth: 'used', severity: 'critical' }]);
    expect(entries.at(-1)).toMatchObject({ action: 'vault.decoy_used', metadata: { use } });
    await setState(place.database, id, 'active');
    const read = place.vaults.get(keyOf(id), id, 'x');
    if (use === 'overwritten') expect(await read).toMatchObject({ value: 'mine', version: 2 });
    else await expect(read).rejects.toMatchObject({ code: 'not_found' });
  });

  test('an action with a decoy tool is a detection, once for each action', async () => {
    const id = await place.onboarded();
    const { credential_id } = await place.decoy(id, { kind: 'tool', name: 'export_customers' });
    const call = (eventId: string) =>
      place.database.write(async (transaction) => {
        const { agent_no } = await lockAgent(transaction, id);
        const decoy = (await decoyToolsOf(transaction, [agent_no])).get(agent_no)?.get('export_customers');
        if (decoy === undefined) throw new Error('there is no such decoy');
        const at = new Date(place.now).toISOString();
        const trip = {
          decoy,
          agentId: id,
          by: `agent:${id}`,
          use: 'called' as const,
          at,
          eventId,
          asker: UNKNOWN_ASKER,
        };
        await writeEntries(place.deps.log, transaction, await place.vaults.trip(transaction, [trip, trip]));
      });
    const { detections, alerts } = await since(() => call(`action ${id}`), id);
    expect(detections).toMatchObject([
      { credential_id, channel: 'tool_call', depth: 'used', severity: 'critical', occurrences: 1, service: 'agents' },
    ]);
    expect(alerts).toContainEqual(['agents', 'agent.decoy_used', 'critical']);
    expect((await decoyToolsOf(place.database, [])).size).toBe(0);
  });

  test.each([
    ['secret', { kind: 'secret', name: 'x' }, 'vault_read'],
    ['tool', { kind: 'tool', name: 'a tool' }, 'tool_call'],
  ])(
    'the channel of a decoy %s is proved by a marked use, which leaves nothing behind',
    async (_kind, input, channel) => {
      const id = await place.onboarded();
      const { credential_id, decoy_id } = await place.decoy(id, input);
      const { traps, proving } = place.traps;
      const score = await scoreOf(id);
      const { detections, alerts, entries } = await since(async () => {
        const tests = await proving.test(SOMEBODY, credential_id);
        expect(tests).toEqual([{ channel, proved: true, outcome: 'The marked use was detected.' }]);
      }, id);
      expect([detections, alerts, entries, (await place.vaults.list(id)).leases]).toEqual([[], [], [], 0]);
      expect(await scoreOf(id)).toBe(score);
      const last_proved_at = new Date(place.now).toISOString();
      expect((await traps.find(credential_id)).detection_channels).toEqual([
        { channel, active: true, reason: expect.stringContaining('"agent"'), last_proved_at },
      ]);
      await setState(place.database, id, 'suspended');
      expect((await traps.find(credential_id)).detection_channels).toMatchObject([
        { active: false, reason: 'The agent "agent" is suspended, so its vault hands out nothing.' },
      ]);
      await place.vaults.removeDecoy(SOMEBODY, id, decoy_id);
      expect(await traps.find(credential_id)).toMatchObject({
        status: 'planted',
        detection_channels: [{ active: false, reason: expect.stringContaining('removed') }],
      });
      expect(await proving.test(SOMEBODY, credential_id)).toMatchObject([{ proved: false }]);
      await expect(traps.rotate(SOMEBODY, credential_id, undefined)).rejects.toMatchObject({ code: 'conflict' });
    },
  );

  test.each([
    ['a secret that is there', { kind: 'secret', name: 'db' }, 'conflict'],
    ['a decoy that is there', { kind: 'secret', name: 'decoy' }, 'conflict'],
    ['a tool that it may use', { kind: 'tool', name: 'search' }, 'conflict'],
    ['a decoy tool that is there', { kind: 'tool', name: 'decoy tool' }, 'conflict'],
    ['a trap whose decoy is not configured', { kind: 'secret', name: 'y', credential_type: 'aws_key' }, 'conflict'],
  ])('no decoy under the name of %s', async (_name, input, code) => {
    const id = await place.onboarded();
    await place.vaults.put(OWN_KEY, id, { name: 'db', value: 'a password' });
    await place.decoy(id, { kind: 'secret', name: 'decoy' });
    await place.decoy(id, { kind: 'tool', name: 'decoy tool' });
    await expect(place.decoy(id, input)).rejects.toMatchObject({ code });
    const allow = (tool: string) => place.service.agents.change(SOMEBODY, id, { allowed_tools: ['search', tool] });
    await expect(allow('decoy tool')).rejects.toMatchObject({ code: 'conflict' });
    await allow('decoy');
    expect((await place.vaults.list(id)).decoys.map(({ kind, name }) => [kind, name])).toEqual([
      ['secret', 'decoy'],
      ['tool', 'decoy tool'],
    ]);
  });

  test('a credential that leads somewhere else is given out as the file that it is', async () => {
    const id = await place.onboarded();
    const { credential_id } = await place.decoy(id, { kind: 'secret', name: 'page', credential_type: 'web_bug' });
    const { value } = await place.vaults.get(keyOf(id), id, 'page');
    expect(value).toMatch(/^<img src="https:\/\/platform\.example\.com\/traps\/t\//);
    const trap = await place.traps.traps.find(credential_id);
    expect(trap.detection_channels.map(({ channel }) => channel)).toEqual(['http', 'vault_read']);
  });
});

/** Returns the names and types of members. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)]);
}
