import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentPatchSchema } from '../../../../src/platform/agents/wire/agents.ts';
import { DATABASES } from '../../database/databases.ts';
import { SOMEBODY } from '../../world.ts';
import { AgentPlace } from '../agent-place.ts';
import { setState } from '../rows.ts';
import { killSwitchOf, stop } from './kill-place.ts';

describe.each(DATABASES)('reinstating on %s', (_name, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  const reinstate = (agentId: string) => place.service.kill.reinstate(SOMEBODY, agentId, { reason: 'a test' });
  const refused = (agentId: string) =>
    reinstate(agentId).then(
      () => 'reinstated',
      (error) => error,
    );

  test('gives a suspended agent its passport and certificates back, and little trust', async () => {
    const agentId = await place.onboarded();
    await stop(place.service.kill, agentId);
    expect(await place.isValid(agentId)).toBe(false);
    const reinstated = await reinstate(agentId);
    expect(reinstated).toMatchObject({ agent_id: agentId, state: 'active', passport_status: 'valid', children: [] });
    expect(reinstated.trust).toMatchObject({ before: 60, tier: 'RESTRICTED' });
    expect(reinstated.trust.after).toBeGreaterThanOrEqual(21);
    expect(reinstated.trust.after).toBeLessThanOrEqual(40);
    expect(await place.isValid(agentId)).toBe(true);
    expect(await place.revocationsOf(agentId)).toEqual([]);
    expect(await place.actionsOf(agentId)).toContain('agent.reinstated');
  });

  test.each(['registered', 'active', 'revoked'] as const)('is refused for an agent that is %s', async (state) => {
    const agentId = state === 'registered' ? await place.registered() : await place.onboarded();
    if (state === 'revoked') await stop(place.service.kill, agentId, 'revoke');
    const before = await place.actionsOf(agentId);
    expect(await refused(agentId)).toMatchObject({ code: 'conflict' });
    expect((await place.service.agents.find(agentId)).state).toBe(state);
    expect(await place.actionsOf(agentId)).toEqual(before);
  });

  test('of a parent reinstates no child, and says so; a child waits for its parent', async () => {
    const parent = await place.onboarded();
    const child = await place.onboarded({ parent_agent_id: parent });
    await stop(place.service.kill, parent);
    expect(await refused(child)).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('reinstate that agent first'),
    });
    const reinstated = await reinstate(parent);
    expect(reinstated.children).toEqual([{ agent_id: child, state: 'suspended' }]);
    expect(reinstated.message).toContain('1 agent that it delegates to stays suspended');
    expect(reinstated.message).toContain('Agents that it delegates to are not reinstated with it.');
    expect(await place.isValid(child)).toBe(false);
    await reinstate(child);
    expect(await place.isValid(child)).toBe(true);
  });

  test('leaves the passport of one that changed suspended, and one without an identity registered', async () => {
    const changed = await place.onboarded();
    await place.service.agents.change(SOMEBODY, changed, agentPatchSchema.parse({ model: 'another' }));
    await stop(place.service.kill, changed);
    expect(await reinstate(changed)).toMatchObject({
      state: 'active',
      passport_status: 'suspended',
      message: expect.stringContaining('until the agent is onboarded again'),
    });
    expect(await place.isValid(changed)).toBe(false);
    const bare = await place.registered();
    await stop(place.service.kill, bare);
    expect(await reinstate(bare)).toMatchObject({ state: 'registered', passport_status: null });
  });

  test('waits until the kill switch is through', async () => {
    const agentId = await place.onboarded();
    const interrupted = killSwitchOf(place);
    await interrupted.settled();
    const { kill_id } = await stop(interrupted, agentId);
    await setState(place.database, agentId, 'suspended');
    expect(await refused(agentId)).toMatchObject({ code: 'conflict', message: expect.stringContaining(kill_id) });
    const again = killSwitchOf(place);
    await again.resumeAbandoned();
    await expect.poll(async () => (await again.find(kill_id)).finished_at).not.toBeNull();
    expect(await reinstate(agentId)).toMatchObject({ state: 'active' });
  });
});
