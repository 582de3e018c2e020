import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../../../src/platform/http/principal.ts';
import { DATABASES } from '../database/databases.ts';
import { ActingAgent, SEARCH } from './acting-agent.ts';
import { AgentPlace, DAY_MS } from './agent-place.ts';

const HASH = 'a'.repeat(64);
const UNBOUND: Principal = { kind: 'key', id: 'gateway', name: 'a gateway', scopes: ['agents:act'], boundTo: null };

// Over 40 lines: it is a list of tests.
describe.each(DATABASES)('actions on %s', (_name, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  let agent: ActingAgent;
  beforeEach(async () => {
    agent = await ActingAgent.onboarded(place);
    // Time passes, so that points can be earned.
    place.now += 8 * DAY_MS;
  });

  test.each(['EdDSA', 'ML-DSA-65'] as const)(
    'one that is signed with %s is attested, and gives a point',
    async (algorithm) => {
      const action_id = randomUUID();
      const logged = await agent.act({ input_hash: HASH, output_hash: HASH }, { algorithm, action_id });
      expect(logged).toMatchObject({ action_id, decision: 'allowed', violations: [], attested: true });
      expect(logged.trust).toMatchObject({ before: 60, after: 61, tier: 'TRUSTED' });
      expect(logged.trust.reasons).toEqual(['+1: an attested action that the agent is allowed.']);
      const last = (await agent.entries()).at(-1);
      expect(last).toMatchObject({ action: 'action.logged', actor: `agent:${agent.id}`, resource_id: action_id });
      expect(logged.entry).toEqual({ stream_id: `agents/${agent.id}`, sequence: last?.sequence, hash: last?.hash });
      expect(last?.metadata).toMatchObject({
        ...SEARCH,
        decision: 'allowed',
        attested: true,
        attestation: { algorithm },
      });
      expect(await agent.ledger()).toHaveLength(3);
    },
  );

  test('an id in capitals is signed as it is written, and is the same in small letters', async () => {
    const action_id = randomUUID();
    const action = agent.attested(SEARCH, { action_id: action_id.toUpperCase() });
    const logged = await agent.log(action);
    expect(logged).toMatchObject({ action_id, attested: true, violations: [], trust: { after: 61 } });
    expect((await agent.entries()).at(-1)).toMatchObject({
      resource_id: action_id,
      metadata: { attestation: { action_id: action_id.toUpperCase() } },
    });
    expect(await agent.log(action)).toEqual(logged);
    expect(await agent.act({}, { action_id })).toEqual(logged);
  });

  test('one that is not signed is recorded, and earns nothing, however often', async () => {
    for (let day = 0; day < 30; day++) {
      place.now += DAY_MS;
      const { attested, trust } = await agent.log(SEARCH);
      expect(attested).toBe(false);
      expect(trust).toMatchObject({ before: 60, after: 60, tier: 'MONITOR' });
      expect(trust.reasons).toEqual([expect.stringContaining('earns no points')]);
    }
    expect(await agent.ledger()).toHaveLength(2);
    expect((await agent.row()).score).toBe(60);
  });

  test.each([
    ['a tool outside', { tool_used: 'shell' }, ['tool_outside'], 45],
    ['an API outside', { api_called: 'evil.example.com' }, ['api_outside'], 50],
    ['a malformed hash', { input_hash: 'abc' }, ['malformed_hash'], 57],
    ['two malformed hashes', { input_hash: '', output_hash: 'zz' }, ['malformed_hash', 'malformed_hash'], 54],
    [
      'all of it',
      { tool_used: 'x', api_called: 'y', output_hash: '1' },
      ['tool_outside', 'api_outside', 'malformed_hash'],
      32,
    ],
  ])('%s is a violation, line by line, also of one that is signed', async (_what, more, rules, after) => {
    const logged = await agent.act(more);
    expect(logged).toMatchObject({ decision: 'violation', attested: true, trust: { before: 60, after } });
    expect(logged.violations.map(({ rule }) => rule)).toEqual(rules);
    const lines = (await agent.ledger()).slice(2);
    expect(lines.map(({ rule, action_id }) => [rule, action_id])).toEqual(
      rules.map((rule) => [rule, logged.action_id]),
    );
    expect((await agent.entries()).at(-1)?.metadata).toMatchObject({
      decision: 'violation',
      trust: { before: 60, after },
    });
  });

  test('names of APIs are compared in lower case, an allowed one and no tool are no violation', async () => {
    const { tool_used: _, ...none } = SEARCH;
    expect(await agent.log({ ...none, api_called: 'API.Example.com' })).toMatchObject({ decision: 'allowed' });
  });

  test('an empty allowance denies all', async () => {
    const bare = await ActingAgent.onboarded(place, { allowed_tools: [], allowed_apis: [] });
    const { violations } = await bare.log({ ...SEARCH, api_called: 'api.example.com' });
    expect(violations.map(({ rule }) => rule)).toEqual(['tool_outside', 'api_outside']);
  });

  describe('a bad signature', () => {
    const other = { ...SEARCH, action_description: 'something else' };
    test.each<[string, () => Promise<object>]>([
      ['over another action', async () => agent.attested(SEARCH, {}, other)],
      ['by another agent', async () => (await ActingAgent.onboarded(place)).attested(SEARCH)],
      ['that is none', async () => damaged(agent.attested(SEARCH), { signature: 'AAAA' })],
      ['of another algorithm', async () => damaged(agent.attested(SEARCH), { algorithm: 'ML-DSA-65' })],
      [
        'of another time',
        async () => damaged(agent.attested(SEARCH), { signed_at: new Date(place.now + 1).toISOString() }),
      ],
    ])('%s costs points, and does not take the id', async (_what, make) => {
      const action = await make();
      const { action_id } = (action as ReturnType<ActingAgent['attested']>).attestation;
      const logged = await agent.log(action);
      expect(logged).toMatchObject({ decision: 'violation', attested: false, trust: { before: 60, after: 40 } });
      expect(logged.violations.map(({ rule }) => rule)).toEqual(['bad_signature']);
      expect(logged.action_id).not.toBe(action_id);
      expect(await agent.act({}, { action_id })).toMatchObject({ action_id, attested: true });
    });

    test('by keys from before it was onboarded again', async () => {
      const old = agent.attested(SEARCH);
      await agent.onboard();
      expect(await agent.log(old)).toMatchObject({ attested: false, violations: [{ rule: 'bad_signature' }] });
      expect(await agent.act()).toMatchObject({ attested: true, violations: [] });
    });
  });

  test('the same again is answered again: no second entry, and no point', async () => {
    const action = agent.attested(SEARCH);
    const logged = await agent.log(action);
    const entries = await agent.entries();
    // Holds long after the signing window, and with another signature over the same content.
    expect(await agent.log(agent.attested(SEARCH, action.attestation))).toEqual(logged);
    place.now += DAY_MS;
    expect(await agent.log(action)).toEqual(logged);
    expect(await agent.entries()).toEqual(entries);
    expect(await agent.ledger()).toHaveLength(3);
  });

  test('another action with an id of before is a violation', async () => {
    const { action_id } = await agent.act();
    const logged = await agent.act({ action_description: 'another' }, { action_id });
    expect(logged.violations).toEqual([{ rule: 'bad_signature', message: expect.stringContaining('action_id') }]);
    expect(logged.action_id).not.toBe(action_id);
  });

  test('an id of one agent is free for another', async () => {
    const { action_id } = await agent.act();
    const other = await ActingAgent.onboarded(place);
    expect(await other.act({}, { action_id })).toMatchObject({ action_id, attested: true });
  });

  test('an idempotency key repeats an action that is not signed; with another one it is refused', async () => {
    const logged = await agent.log(SEARCH, { key: 'once' });
    expect(await agent.log(SEARCH, { key: 'once' })).toEqual(logged);
    expect(await agent.log(SEARCH, { key: 'twice' })).not.toEqual(logged);
    const other = { ...SEARCH, tool_used: 'another' };
    await expect(agent.log(other, { key: 'once' })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect((await agent.row()).score).toBe(60);
  });

  test.each([-301_000, 301_000])(
    'one that was signed %i ms from now is refused, and nothing is recorded',
    async (off) => {
      const before = await agent.entries();
      const signed_at = new Date(place.now + off).toISOString();
      await expect(agent.act({}, { signed_at })).rejects.toMatchObject({ code: 'invalid_request' });
      expect(await agent.entries()).toEqual(before);
      expect(await agent.act({}, { signed_at: new Date(place.now + off * 0.99).toISOString() })).toMatchObject({
        attested: true,
      });
    },
  );

  test("another agent's key cannot report for this one", async () => {
    const other = await ActingAgent.onboarded(place);
    const before = [await agent.entries(), await agent.ledger()];
    const bad = { ...SEARCH, tool_used: 'shell' };
    await expect(agent.log(bad, { principal: other.principal })).rejects.toMatchObject({ code: 'forbidden' });
    const { action_id } = await other.log(SEARCH);
    await expect(
      place.service.actions.outcome(agent.principal, other.id, action_id, { outcome: 'failed' }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    expect([await agent.entries(), await agent.ledger()]).toEqual(before);
    expect(await agent.log(SEARCH, { principal: UNBOUND })).toMatchObject({ decision: 'allowed' });
    expect((await agent.entries()).at(-1)?.actor).toBe('key:gateway');
  });

  test('a tool that is not allowed, until AUTO-SUSPENDED; the next action is refused and still audited', async () => {
    const bad = { ...SEARCH, tool_used: 'shell' };
    const scores = [];
    for (let n = 0; n < 3; n++) scores.push((await agent.log(bad)).trust.after);
    expect(scores).toEqual([45, 30, 15]);
    expect(await agent.row()).toMatchObject({ state: 'suspended', suspended_because: 'auto', tier: 'AUTO-SUSPENDED' });
    expect(place.alerts.filter(({ subject_id }) => subject_id === agent.id)).toMatchObject([
      { kind: 'agent.auto_suspended', severity: 'critical' },
    ]);
    expect(await place.passportsOf(agent.id)).toEqual(['suspended']);
    const refused = agent.act();
    await expect(refused).rejects.toMatchObject({
      code: 'agent_suspended',
      members: { trust: { before: 15, after: 10 } },
    });
    const { members } = await refused.catch((error) => error);
    const entries = await agent.entries();
    expect(entries.map(({ action }) => action).slice(-4)).toEqual([
      'action.logged',
      'agent.suspended',
      'passport.suspended',
      'action.refused',
    ]);
    expect(entries.at(-1)).toMatchObject({
      sequence: members.entry.sequence,
      hash: members.entry.hash,
      resource_id: members.action_id,
    });
    for (let n = 0; n < 4; n++) await expect(agent.log(SEARCH)).rejects.toMatchObject({ code: 'agent_suspended' });
    const lines = await agent.ledger();
    expect(lines.slice(-5).map(({ rule, after }) => [rule, after])).toEqual(
      [10, 5, 0, 0, 0].map((after) => ['attempt_while_suspended', after]),
    );
  });

  test('an agent is suspended at 20, and acts at 21', async () => {
    const bad = () => damaged(agent.attested(SEARCH), { signature: 'AAAA' });
    await agent.act();
    for (const after of [41, 21]) expect(await agent.log(bad())).toMatchObject({ trust: { after } });
    expect(await agent.row()).toMatchObject({ score: 21, tier: 'RESTRICTED', state: 'active' });
    const other = await ActingAgent.onboarded(place);
    for (const after of [40, 20])
      expect(await other.log(damaged(other.attested(SEARCH), { signature: 'AAAA' }))).toMatchObject({
        trust: { after },
      });
    expect(await other.row()).toMatchObject({ score: 20, tier: 'AUTO-SUSPENDED', state: 'suspended' });
  });

  test('an agent whose model is another is a ghost: its passport is suspended once, until it is onboarded again', async () => {
    place.now += DAY_MS;
    await agent.act();
    const logged = await agent.log({ ...SEARCH, model: 'model-b' });
    expect(logged).toMatchObject({ decision: 'violation', violations: [{ rule: 'composition_changed' }] });
    expect(logged.trust).toMatchObject({ before: 61, after: 60, tier: 'MONITOR' });
    await agent.log({ ...SEARCH, model: 'model-b' });
    const entries = await agent.entries();
    expect(entries.filter(({ action }) => action === 'passport.suspended')).toHaveLength(1);
    expect(await place.passportsOf(agent.id)).toEqual(['suspended']);
    expect(await agent.act()).toMatchObject({ decision: 'allowed', trust: { after: 60 } });
    await agent.onboard();
    expect(await place.passportsOf(agent.id)).toEqual(['superseded', 'valid']);
    expect(await agent.act({ model: 'model-a', version: '1.0.0' })).toMatchObject({ trust: { after: 61 } });
    await agent.ledger();
  });

  test('what became of an action is an entry, once', async () => {
    const { action_id } = await agent.act();
    const said = { outcome: 'succeeded', output_hash: HASH };
    const logged = await agent.outcome(action_id, said);
    expect(logged).toMatchObject({ action_id, ...said });
    const last = (await agent.entries()).at(-1);
    expect(last).toMatchObject({ action: 'action.outcome', resource_id: action_id, metadata: said });
    expect(logged.entry).toEqual({ stream_id: `agents/${agent.id}`, sequence: last?.sequence, hash: last?.hash });
    expect(await agent.outcome(action_id, said)).toEqual(logged);
    await expect(agent.outcome(action_id, { outcome: 'failed' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(agent.outcome(randomUUID(), said)).rejects.toMatchObject({ code: 'not_found' });
    expect((await agent.entries()).at(-1)).toEqual(last);
    expect(await place.service.actions.find(agent.id, action_id)).toMatchObject({ outcome: said });
  });

  test('actions are listed newest first, with what became of them', async () => {
    const { action_id } = await agent.act();
    await agent.outcome(action_id, { outcome: 'unknown' });
    await agent.log({ ...SEARCH, tool_used: 'shell' });
    const { actions } = place.service;
    const first = await actions.list(agent.id, { limit: 1 });
    expect(first.data).toMatchObject([{ tool_used: 'shell', outcome: null }]);
    const cursor = String(first.next_cursor);
    expect((await actions.list(agent.id, { limit: 1, cursor })).data).toMatchObject([
      { action_id, agent_id: agent.id, attested: true, algorithm: 'EdDSA', outcome: { outcome: 'unknown' } },
    ]);
    const allowed = await actions.list(agent.id, { limit: 9, decision: 'allowed' });
    expect(allowed.data.map((action) => action.action_id)).toEqual([action_id]);
  });

  test('a fault leaves nothing: no action, no line, no entry', async () => {
    const before = [await agent.entries(), await agent.ledger(), await agent.row()];
    place.fault = 'after';
    await expect(agent.act()).rejects.toThrow('a fault');
    place.fault = null;
    expect([await agent.entries(), await agent.ledger(), await agent.row()]).toEqual(before);
  });
});

function damaged(action: ReturnType<ActingAgent['attested']>, more: object) {
  return { ...action, attestation: { ...action.attestation, ...more } };
}
