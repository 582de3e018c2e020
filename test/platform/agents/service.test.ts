import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, call, SERVICES, type Service } from '../service.ts';
import { AGENTS, type HttpAgent, onboarded, register } from './http-agent.ts';

/** Example in the interface document. */
const REGISTRATION = {
  name: 'Invoice processor',
  agent_type: 'supervised',
  model: 'a-model',
  version: '1.0.0',
  allowed_tools: ['read_file'],
  allowed_apis: ['api.example.com'],
};
const ACTION = {
  action_type: 'tool_call',
  action_description: 'Read an invoice',
  tool_used: 'read_file',
  input_hash: 'a'.repeat(64),
  output_hash: 'b'.repeat(64),
};

describe.each(SERVICES)('the service of agents on %s', (_name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());

  const verify = (id: string): Promise<Answer> =>
    call(`${service.origin}/agents`, 'none', 'GET', `/api/v1/public/verify-agent/${id}`, undefined, {
      authorization: '',
    });

  test('does what the interface document shows', async () => {
    const registered = await service.call('POST', AGENTS, REGISTRATION);
    expect([registered.status, registered.body]).toMatchObject([
      201,
      { ...REGISTRATION, state: 'registered', score: 50 },
    ]);
    const { agent_id } = registered.body;
    const shown = await service.call('POST', `${AGENTS}/${agent_id}/onboard`);
    expect([shown.status, shown.body]).toMatchObject([
      201,
      {
        quantum_identity: { did: expect.stringMatching(/^did:web:/), private_keys_once: {} },
        certificate: { pem: expect.stringContaining('BEGIN CERTIFICATE'), pq: {} },
        vault: { status: 'open', encryption: expect.stringContaining('AES-256-GCM') },
        audit_stream: { stream_id: `agents/${agent_id}` },
        passport: { jti: expect.any(String), status_url: expect.stringContaining('/agents/api/v1/public/') },
      },
    ]);
    expect(Object.keys(shown.body.quantum_identity.public_keys)).toEqual(
      expect.arrayContaining(['ed25519', 'ml_dsa_65']),
    );
    const logged = await service.call('POST', `${AGENTS}/${agent_id}/actions`, ACTION);
    expect([logged.status, logged.body]).toMatchObject([201, { decision: 'allowed', violations: [], attested: false }]);
    const { stream_id, sequence, hash } = logged.body.entry;
    const found = await service.call(
      'GET',
      `/entries/?stream_id=${encodeURIComponent(stream_id)}&action=action.logged`,
    );
    expect(found.body.data).toMatchObject([{ sequence, hash, resource_id: logged.body.action_id }]);
    expect((await verify(agent_id)).body).toMatchObject({ agent_id, valid: true, status: 'active', tier: 'MONITOR' });
    const entries = await service.call(
      'GET',
      new URL(shown.body.audit_stream.entries_url).pathname.replace('/audit', ''),
    );
    expect(entries.status).toBe(200);
    expect((await service.call('POST', `/streams/${encodeURIComponent(stream_id)}/verify`)).body.verified).toBe(true);
  });

  test('the key of an agent does what the agent does, and nothing else', async () => {
    const [agent, other] = [await onboarded(service), await onboarded(service)];
    const [key] = (await service.call('GET', '//keys/')).body.data;
    expect(key).toMatchObject({ scopes: ['agents:act'], bound_to: `agent:${other.id}` });
    expect((await agent.send('POST', '/actions', ACTION)).status).toBe(201);
    const before = await service.call('GET', `${AGENTS}/${other.id}/trust-score/history`);
    const asAgent = { authorization: `Bearer ${agent.apiKey}` };
    for (const [method, path, body] of [
      ['POST', `${AGENTS}/${other.id}/actions`, ACTION],
      ['GET', `${AGENTS}/${other.id}/vault`, undefined],
      ['PUT', `${AGENTS}/${other.id}/vault/secrets/x`, { value: 'x' }],
      ['POST', `${AGENTS}/${agent.id}/onboard`, undefined],
      ['POST', `${AGENTS}/${agent.id}/reinstate`, { reason: 'x' }],
      ['PATCH', `${AGENTS}/${agent.id}`, { allowed_tools: ['shell'] }],
      ['GET', '/streams/', undefined],
    ] as const)
      expect([path, (await service.call(method, path, body, asAgent)).status]).toEqual([path, 403]);
    const after = await service.call('GET', `${AGENTS}/${other.id}/trust-score/history`);
    expect(after.body).toEqual(before.body);
    await service.call('POST', `${AGENTS}/${agent.id}/onboard`);
    expect((await agent.send('POST', '/actions', ACTION)).body.code).toBe('key_revoked');
  });

  test('a ghost agent: strangers hear of it at once, and of its return', async () => {
    const agent: HttpAgent = await onboarded(service);
    expect((await verify(agent.id)).body.valid).toBe(true);
    const ghost = await agent.did({ model: 'another-model' });
    expect(ghost).toMatchObject({ decision: 'violation', violations: [{ rule: 'composition_changed' }] });
    expect((await verify(agent.id)).body).toMatchObject({
      valid: false,
      passport: { status: 'suspended' },
      status: 'active',
    });
    expect((await service.call('GET', `${AGENTS}/${agent.id}/trust-score`)).body).toMatchObject({
      ceiling: 60,
      ceiling_because: 'composition_changed',
      tier: 'MONITOR',
    });
    const stream = encodeURIComponent(`agents/${agent.id}`);
    const suspended = await service.call('GET', `/entries/?stream_id=${stream}&action=passport.suspended`);
    expect(suspended.body.data).toMatchObject([{ metadata: { observed: { model: 'another-model' } } }]);
    await service.call('POST', `${AGENTS}/${agent.id}/onboard`);
    expect((await verify(agent.id)).body).toMatchObject({ valid: true, passport: { status: 'valid' } });
    await service.call('PATCH', `${AGENTS}/${agent.id}`, { allowed_tools: ['read_file', 'shell'] });
    expect((await verify(agent.id)).body).toMatchObject({ valid: false, passport: { status: 'suspended' } });
  });

  test('an agent with no allowance is told so, and every tool and API is a violation', async () => {
    const id = await register(service, { allowed_tools: [], allowed_apis: [] });
    expect((await service.call('GET', `${AGENTS}/${id}`)).body.message).toContain('allowed_tools is empty');
    const { body } = await service.call('POST', `${AGENTS}/${id}/actions`, {
      ...ACTION,
      api_called: 'api.example.com',
    });
    expect(body.violations.map(({ rule }: { rule: string }) => rule)).toEqual(['tool_outside', 'api_outside']);
  });

  test('nobody else appends to the stream of an agent', async () => {
    const id = await register(service);
    const entry = { stream_id: `agents/${id}`, actor: 'x', action: 'x', resource_type: 'x', resource_id: 'x' };
    const { status, body } = await service.call('POST', '/entries/', entry);
    expect([status, body.detail]).toEqual([422, expect.stringContaining('"agents/"')]);
  });

  test('counts agents, and what is wrong with them', async () => {
    const { body: before } = await service.call('GET', '//agents/api/v1/stats/');
    const id = await register(service);
    await service.call('POST', `${AGENTS}/${id}/actions`, { ...ACTION, tool_used: 'shell' });
    await service.call('POST', `${AGENTS}/${id}/kill-switch`, { mode: 'suspend', reason: 'x' });
    const { body: after } = await service.call('GET', '//agents/api/v1/stats/');
    expect([after.agents - before.agents, after.states.suspended - before.states.suspended]).toEqual([1, 1]);
    expect([after.actions_24h - before.actions_24h, after.violations_24h - before.violations_24h]).toEqual([1, 1]);
    expect([after.actions - before.actions, after.last_action_at >= before.last_action_at]).toEqual([1, true]);
    expect(after).toMatchObject({ unfinished_kills: 0, wrong_since: expect.stringMatching(/^\d{4}-/) });
    const sum = Object.values<number>(after.states).reduce((total, count) => total + count, 0);
    expect(sum).toBe(after.agents);
  });
});
