import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KILL_STEPS } from '../../../../src/platform/agents/enums.ts';
import { DATABASES } from '../../database/databases.ts';
import { SOMEBODY } from '../../world.ts';
import { AgentPlace } from '../agent-place.ts';
import { ALL_DONE, killSwitchOf, resultsOf, stop } from './kill-place.ts';

describe.each(DATABASES)('the kill switch on %s', (_name, start) => {
  let place: AgentPlace;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
  });
  afterAll(() => place.close());

  const find = (agentId: string) => place.service.agents.find(agentId);
  const reasons = async (agentId: string) =>
    Object.fromEntries((await place.revocationsOf(agentId)).map(({ kind, reason }) => [kind, reason]));

  test('suspends an agent: each step is done, reported and recorded, and its keys stay', async () => {
    const agentId = await place.onboarded();
    const receipt = await stop(place.service.kill, agentId);
    expect(resultsOf(receipt)).toEqual(ALL_DONE);
    expect(receipt).toMatchObject({ mode: 'suspend', reason: 'a test', started_by: SOMEBODY.name, deliveries: [] });
    expect(receipt.finished_at).not.toBeNull();
    expect(receipt.public_verification_flipped_after_ms).toBeGreaterThanOrEqual(0);
    expect(await find(agentId)).toMatchObject({ state: 'suspended', suspended_because: 'kill_switch' });
    expect(await place.passportsOf(agentId)).toEqual(['suspended']);
    expect(await reasons(agentId)).toEqual({ ecdsa: 'certificateHold', ml_dsa_65: 'certificateHold' });
    expect((await place.keysOf(agentId)).map(({ revoked_at }) => revoked_at)).toEqual([null]);
    const entries = (await place.entries(agentId)).filter(({ action }) => action.startsWith('kill.'));
    expect(entries.map(({ action, metadata }) => [action, metadata['step']])).toEqual([
      ['kill.started', undefined],
      ...KILL_STEPS.map((step) => ['kill.step', step]),
      ['kill.finished', undefined],
    ]);
    expect(entries.at(-1)?.metadata).toMatchObject({ completed: 7, failed: 0, not_available: 2 });
    expect(place.alerts.at(-1)).toMatchObject({ kind: 'agent.killed', subject_id: agentId });
    expect(await place.service.kill.find(receipt.kill_id)).toEqual(receipt);
    expect((await place.service.kill.list(agentId, { limit: 5 })).data).toEqual([receipt]);
  });

  test('revokes an agent for ever, also one that is suspended: its keys end, and a hold becomes a revocation', async () => {
    const agentId = await place.onboarded();
    await stop(place.service.kill, agentId);
    expect(resultsOf(await stop(place.service.kill, agentId, 'revoke'))).toEqual(ALL_DONE);
    expect(await find(agentId)).toMatchObject({ state: 'revoked', suspended_because: null });
    expect(await place.passportsOf(agentId)).toEqual(['revoked']);
    expect(await reasons(agentId)).toEqual({ ecdsa: 'cessationOfOperation', ml_dsa_65: 'cessationOfOperation' });
    expect((await place.keysOf(agentId)).every(({ revoked_at }) => revoked_at !== null)).toBe(true);
    await expect(stop(place.service.kill, agentId)).rejects.toMatchObject({ code: 'conflict' });
    // Repeating the kill switch is allowed, because a step may have failed.
    expect(resultsOf(await stop(place.service.kill, agentId, 'revoke'))).toEqual(ALL_DONE);
  });

  test('says of one below that is revoked already that it stays so', async () => {
    const parent = await place.onboarded();
    const child = await place.onboarded({ parent_agent_id: parent });
    await stop(place.service.kill, child, 'revoke');
    const receipt = await stop(place.service.kill, parent);
    const own = receipt.agents.find(({ agent_id }) => agent_id === child)?.steps ?? [];
    const details = Object.fromEntries(own.map(({ step, detail }) => [step, detail]));
    expect(details).toMatchObject({
      agent_state: 'The agent was already revoked.',
      passport_status: 'The passport was already revoked.',
      certificates: 'Both certificates were already in the revocation lists.',
    });
    expect(await reasons(child)).toEqual({ ecdsa: 'cessationOfOperation', ml_dsa_65: 'cessationOfOperation' });
    const details2 = (await stop(place.service.kill, parent)).agents.at(-1)?.steps.map(({ detail }) => detail);
    expect(details2).toContain('Both certificates were already in the revocation lists.');
  });

  test('stops one that was never onboarded, and says what it has not got', async () => {
    const agentId = await place.registered();
    const receipt = await stop(place.service.kill, agentId);
    expect(resultsOf(receipt)).toEqual(ALL_DONE);
    const details = receipt.agents[0]?.steps.map(({ detail }) => detail).join('\n');
    expect(details).toContain('has no passport');
    expect(details).toContain('has no certificates');
  });

  test('stops all that an agent delegates to, each kind of step children first, and nobody else', async () => {
    const root = await place.onboarded();
    const killed = await place.onboarded({ parent_agent_id: root });
    const child = await place.onboarded({ parent_agent_id: killed });
    const grandchild = await place.onboarded({ parent_agent_id: child });
    const sibling = await place.onboarded({ parent_agent_id: root });
    const order: string[] = [];
    const kill = killSwitchOf(place, (step) => {
      if (!('act' in step)) return step;
      return {
        ...step,
        act: (transaction, subject) => {
          order.push(`${step.name} ${subject.agentId}`);
          return step.act(transaction, subject);
        },
      };
    });
    const receipt = await stop(kill, killed, 'revoke');
    expect(receipt.agents.map(({ agent_id }) => agent_id)).toEqual([grandchild, child, killed]);
    for (const { agent_id } of receipt.agents) expect(resultsOf(receipt, agent_id)).toEqual(ALL_DONE);
    expect(order).toEqual(
      KILL_STEPS.slice(0, 6).flatMap((step) => [grandchild, child, killed].map((agentId) => `${step} ${agentId}`)),
    );
    const states = await Promise.all(
      [root, sibling, killed, child, grandchild].map(async (id) => (await find(id)).state),
    );
    expect(states).toEqual(['active', 'active', 'revoked', 'revoked', 'revoked']);
    expect(await place.actionsOf(grandchild)).toContain('kill.finished');
    expect((await place.service.kill.list(grandchild, { limit: 5 })).data).toHaveLength(1);
  });

  test('stops children that were registered after it was begun', async () => {
    const parent = await place.onboarded();
    const interrupted = killSwitchOf(place);
    await interrupted.settled();
    const { kill_id, finished_at, agents } = await stop(interrupted, parent);
    expect([finished_at, agents.length]).toEqual([null, 1]);
    const late = await place.onboarded({ parent_agent_id: parent });
    const later = await place.onboarded({ parent_agent_id: late });
    const again = killSwitchOf(place);
    await again.resumeAbandoned();
    await expect.poll(async () => (await again.find(kill_id)).finished_at).not.toBeNull();
    const receipt = await again.find(kill_id);
    expect(receipt.agents.map(({ agent_id }) => agent_id)).toEqual([parent, later, late]);
    for (const agentId of [late, later]) {
      expect(resultsOf(receipt, agentId)).toEqual(ALL_DONE);
      expect((await find(agentId)).state).toBe('suspended');
    }
  });

  test('used by many at once ends in what is for ever', async () => {
    const parent = await place.onboarded();
    const child = await place.onboarded({ parent_agent_id: parent });
    const uses = [
      ...['suspend', 'suspend', 'revoke', 'suspend'].map((mode) => stop(place.service.kill, parent, mode as 'suspend')),
      ...['revoke', 'suspend'].map((mode) => stop(place.service.kill, child, mode as 'suspend')),
    ];
    for (const outcome of await Promise.allSettled(uses))
      if (outcome.status === 'fulfilled') expect(resultsOf(outcome.value)).toEqual(ALL_DONE);
      else expect(outcome.reason).toMatchObject({ code: 'conflict' });
    for (const agentId of [parent, child]) {
      expect((await find(agentId)).state).toBe('revoked');
      expect(await place.passportsOf(agentId)).toEqual(['revoked']);
      expect(await reasons(agentId)).toEqual({ ecdsa: 'cessationOfOperation', ml_dsa_65: 'cessationOfOperation' });
    }
  });

  test('is used once by a request that is sent twice', async () => {
    const agentId = await place.onboarded();
    const input = { mode: 'suspend', reason: 'a test' } as const;
    const first = await place.service.kill.stop(SOMEBODY, agentId, input, 'key');
    expect(await place.service.kill.stop(SOMEBODY, agentId, input, 'key')).toEqual(first);
    expect((await place.service.kill.list(agentId, { limit: 5 })).data).toHaveLength(1);
  });

  test('stops an agent whose stream is damaged, and says that nothing could be recorded', async () => {
    const agentId = await place.onboarded();
    await place.damageStream(agentId);
    const receipt = await stop(place.service.kill, agentId);
    expect(resultsOf(receipt)).toEqual(ALL_DONE);
    expect(receipt.agents[0]?.steps[0]?.detail).toMatch(/No entry could be written: ./);
    expect((await find(agentId)).state).toBe('suspended');
  });

  test('names no kill that it does not know', async () => {
    await expect(place.service.kill.find('none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(place.service.kill.list('none', { limit: 5 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(stop(place.service.kill, 'none')).rejects.toMatchObject({ code: 'not_found' });
  });
});
