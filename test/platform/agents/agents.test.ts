import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  agentPatchSchema,
  agentQuerySchema,
  agentRegistrationSchema,
} from '../../../src/platform/agents/wire/agents.ts';
import { DATABASES } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { AGENT, AgentPlace } from './agent-place.ts';
import { setState } from './rows.ts';

const query = (more: object = {}) => agentQuerySchema.parse({ limit: 50, ...more });

describe.each(DATABASES)('agents on %s', (_name, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  const change = (agentId: string, patch: object) =>
    place.service.agents.change(SOMEBODY, agentId, agentPatchSchema.parse(patch));
  const onboard = (agentId: string, key?: string) => place.service.onboarding.onboard(SOMEBODY, agentId, key);
  const find = (agentId: string) => place.service.agents.find(agentId);

  test('an agent that is registered has a score, a stream, and no identity', async () => {
    const agentId = await place.registered({ allowed_tools: ['b', 'a', 'b'], allowed_apis: ['API.Example.com'] });
    expect(await find(agentId)).toMatchObject({
      name: 'agent',
      state: 'registered',
      score: 50,
      tier: 'MONITOR',
      identity: null,
      children: [],
      allowed_tools: ['a', 'b'],
      allowed_apis: ['api.example.com'],
      onboarded_at: null,
      audit_stream: { stream_id: `agents/${agentId}` },
      message: 'It has no identity yet: onboard it.',
    });
    const [registered, trust] = await place.entries(agentId);
    expect(registered).toMatchObject({
      action: 'agent.registered',
      actor: SOMEBODY.name,
      resource_type: 'agent',
      resource_id: agentId,
      metadata: { model: 'model-a', allowed_tools: ['a', 'b'], allowed_apis: ['api.example.com'] },
    });
    expect(trust).toMatchObject({ action: 'trust.changed', metadata: { rule: 'registered', before: 0, after: 50 } });
  });

  test('an allowance that is empty denies all, and the answer says so', async () => {
    const both = await find(await place.registered({ allowed_tools: [], allowed_apis: [] }));
    expect(both.message).toContain('allowed_tools is empty, so every use of a tool is a violation.');
    expect(both.message).toContain('allowed_apis is empty, so every call of an API is a violation.');
    const tools = await find(await place.registered({ allowed_apis: [] }));
    expect(tools.message).not.toContain('allowed_tools');
    expect(tools.message).toContain('allowed_apis is empty');
  });

  test('a registration that is sent twice under one key registers once, and another one under it is refused', async () => {
    const { agents } = place.service;
    const input = agentRegistrationSchema.parse({ ...AGENT, name: 'once' });
    const first = await agents.register(SOMEBODY, input, 'key');
    expect((await agents.register(SOMEBODY, input, 'key')).agent_id).toBe(first.agent_id);
    await expect(agents.register(SOMEBODY, { ...input, name: 'other' }, 'key')).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect((await agents.list(query({ q: 'once' }))).data).toHaveLength(1);
  });

  test('agents are listed newest first, page by page, by state, tier and a part of their names', async () => {
    const names = ['Listed %one', 'listed two', 'LISTED three'];
    const ids: string[] = [];
    for (const name of names) ids.push(await place.registered({ name }));
    await onboard(ids[1] ?? '');
    const { agents } = place.service;
    const first = await agents.list(query({ q: 'listed', limit: 2 }));
    const rest = await agents.list(query({ q: 'listed', limit: 2, cursor: first.next_cursor }));
    expect([...first.data, ...rest.data].map(({ agent_id }) => agent_id)).toEqual(ids.toReversed());
    expect(rest.next_cursor).toBeNull();
    const named = async (more: object) =>
      (await agents.list(query({ q: 'listed', ...more }))).data.map((one) => one.name);
    expect(await named({ q: '%' })).toEqual([names[0]]);
    expect(await named({ q: '_' })).toEqual([]);
    expect(await named({ state: 'active' })).toEqual([names[1]]);
    expect(await named({ tier: 'MONITOR' })).toEqual(names.toReversed());
    expect(await named({ tier: 'TRUSTED' })).toEqual([]);
    await expect(agents.list(query({ cursor: 'x' }))).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  test('onboarding answers five parts and a key that is bound, and the agent is active', async () => {
    const agentId = await place.registered();
    const answer = await onboard(agentId, 'a key');
    expect(Object.keys(answer).toSorted()).toEqual(
      [
        ...['agent_id', 'api_key', 'audit_stream', 'certificate', 'message', 'passport', 'quantum_identity', 'vault'],
      ].toSorted(),
    );
    const agent = await find(agentId);
    expect(agent).toMatchObject({
      state: 'active',
      score: 60,
      tier: 'MONITOR',
      message: 'It is active.',
      identity: {
        did: answer.quantum_identity.did,
        public_keys: answer.quantum_identity.public_keys,
        certificate: { serial: answer.certificate.serial, pq: { serial: answer.certificate.pq.serial } },
        passport: { jti: answer.passport.jti, status: 'valid' },
        composition: agent.composition.sha256,
      },
    });
    expect(await place.actionsOf(agentId)).toEqual([
      ...['agent.registered', 'trust.changed', 'agent.onboarded', 'trust.changed'],
    ]);
    const all = JSON.stringify(await place.entries(agentId));
    for (const key of Object.values(answer.quantum_identity.private_keys_once))
      expect(all).not.toContain(key.split('\n')[1]);
    expect(all).not.toContain(answer.api_key);
    await expect(onboard(agentId, 'a key')).rejects.toMatchObject({ code: 'key_shown_before' });
  });

  test('an agent that is onboarded again has new keys, and those of before are no good any more', async () => {
    const agentId = await place.registered();
    const first = await onboard(agentId);
    const second = await onboard(agentId);
    expect(second.certificate.serial).not.toBe(first.certificate.serial);
    expect(second.vault.vault_id).toBe(first.vault.vault_id);
    expect((await find(agentId)).score).toBe(60);
    const keys = await place.keysOf(agentId);
    expect(keys.map(({ revoked_at }) => revoked_at === null).toSorted()).toEqual([false, true]);
    expect(keys.find(({ revoked_at }) => revoked_at === null)?.key_id).toBe((await find(agentId)).identity?.key_id);
    expect(await place.passportsOf(agentId)).toEqual(['superseded', 'valid']);
    expect((await place.revocationsOf(agentId)).map(({ serial, reason }) => [serial, reason]).toSorted()).toEqual(
      [first.certificate.serial, first.certificate.pq.serial].map((serial) => [serial, 'superseded']).toSorted(),
    );
  });

  test('an onboarding that fails leaves nothing behind', async () => {
    const agentId = await place.registered();
    place.fault = 'after';
    await expect(onboard(agentId)).rejects.toThrow('a fault');
    place.fault = null;
    expect(await find(agentId)).toMatchObject({ state: 'registered', identity: null, score: 50 });
    expect(await place.keysOf(agentId)).toEqual([]);
    expect(await place.actionsOf(agentId)).toEqual(['agent.registered', 'trust.changed']);
  });

  test.each([
    ['another model', { model: 'model-b' }],
    ['another version', { version: '1.0.1' }],
    ['one tool more', { allowed_tools: ['search', 'shell'] }],
    ['no API any more', { allowed_apis: [] }],
    ['a prompt that is known', { prompt_sha256: 'a'.repeat(64) }],
  ])(
    'a ghost: %s under the same id suspends the passport and caps the tier, until it is onboarded again',
    async (_what, patch) => {
      const agentId = await place.onboarded();
      await place.raiseTo(agentId, 75);
      const before = await find(agentId);
      expect(before.tier).toBe('TRUSTED');
      const alerts = place.alerts.length;
      const ghost = await change(agentId, patch);
      expect(ghost).toMatchObject({
        state: 'active',
        score: 60,
        tier: 'MONITOR',
        composition: { changed_at: new Date(place.now).toISOString() },
        identity: { composition: before.composition.sha256, passport: { status: 'suspended' } },
        message: expect.stringContaining('until it is onboarded again'),
      });
      expect(ghost.composition.sha256).not.toBe(before.composition.sha256);
      const suspended = (await place.entries(agentId)).slice(-3);
      expect(suspended.map(({ action }) => action)).toEqual(['agent.changed', 'passport.suspended', 'trust.changed']);
      expect(suspended[1]).toMatchObject({ resource_id: before.identity?.passport.jti });
      expect(suspended[2]).toMatchObject({ metadata: { rule: 'composition_changed', after: 60 } });
      expect(place.alerts.slice(alerts)).toMatchObject([{ kind: 'agent.composition_changed', subject_id: agentId }]);
      // The agent counts as a ghost once, however often it changes.
      await change(agentId, { model: 'model-c' });
      expect(place.alerts.length).toBe(alerts + 1);
      await onboard(agentId);
      const again = await find(agentId);
      expect(again).toMatchObject({
        composition: { changed_at: null },
        identity: { composition: again.composition.sha256, passport: { status: 'valid' } },
        message: expect.not.stringContaining('onboarded again'),
      });
      await place.raiseTo(agentId, 75);
      expect((await find(agentId)).tier).toBe('TRUSTED');
    },
  );

  test('a change of what an agent is called is an entry, and no ghost; one that changes nothing is nothing', async () => {
    const agentId = await place.onboarded();
    const renamed = await change(agentId, { name: 'renamed', agent_type: 'autonomous' });
    expect(renamed).toMatchObject({ name: 'renamed', identity: { passport: { status: 'valid' } } });
    const entries = await place.entries(agentId);
    expect(entries.at(-1)).toMatchObject({
      action: 'agent.changed',
      metadata: {
        before: { name: 'agent', agent_type: 'supervised' },
        after: { name: 'renamed', agent_type: 'autonomous' },
      },
    });
    await change(agentId, { name: 'renamed', allowed_tools: ['search', 'search'] });
    expect(await place.entries(agentId)).toHaveLength(entries.length);
  });

  test('an agent without a passport loses none', async () => {
    const agentId = await place.registered();
    expect(await change(agentId, { model: 'model-b' })).toMatchObject({ composition: { changed_at: null }, score: 50 });
    expect(await place.actionsOf(agentId)).toEqual(['agent.registered', 'trust.changed', 'agent.changed']);
  });

  test('an agent may delegate only while it is active, and its children are listed with it', async () => {
    const parent = await place.registered({ name: 'parent' });
    const below = { name: 'child', parent_agent_id: parent };
    await expect(place.registered(below)).rejects.toMatchObject({ code: 'conflict' });
    await onboard(parent);
    const child = await place.registered(below);
    expect(await find(parent)).toMatchObject({ children: [{ agent_id: child, name: 'child', score: 50 }] });
    expect(await find(child)).toMatchObject({ parent_agent_id: parent });
    await setState(place.database, parent, 'suspended');
    await expect(onboard(child)).rejects.toMatchObject({ code: 'conflict' });
    await expect(place.registered({ parent_agent_id: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    ['suspended', 'agent_suspended', null],
    ['revoked', 'agent_revoked', 'agent_revoked'],
  ] as const)('an agent that is %s is not onboarded; whether it changes', async (state, onboarding, changing) => {
    const agentId = await place.registered();
    await setState(place.database, agentId, state);
    await expect(onboard(agentId)).rejects.toMatchObject({ code: onboarding });
    const changed = change(agentId, { name: 'x' });
    if (changing === null) expect((await changed).name).toBe('x');
    else await expect(changed).rejects.toMatchObject({ code: changing });
  });

  test('many registrations and onboardings beside each other', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, at) => place.onboarded({ name: `beside ${at}` })));
    const { data } = await place.service.agents.list(query({ q: 'beside', limit: 500 }));
    expect(data.map(({ agent_id, state }) => [agent_id, state]).toSorted()).toEqual(
      ids.map((id) => [id, 'active']).toSorted(),
    );
  });
});
