import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AgentAlertKind, alertedAgents, alertOfAgent } from '../../../src/platform/agents/alerting.ts';
import type { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { AlertPlace } from '../alerts/alert-place.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { VaultPlace } from './vault-place.ts';

describe.each(DATABASES)('alerts of agents on %s', (_name, start) => {
  let databases: DatabasePlace;
  let place: VaultPlace;
  let to: AlertPlace;
  let delivery: OutboxDelivery;
  let agentId: string;
  beforeAll(async () => {
    databases = await start();
    place = await VaultPlace.at((await databases.createMigrated()).database);
    to = await AlertPlace.open(place);
    delivery = to.deliveryFor(alertedAgents(place.service.agents));
    await to.add({ sources: ['agents'] });
    await to.add({ kind: 'email', target: 'ada@example.com', name: 'mail' });
  });
  afterAll(async () => {
    await to.close();
    await databases.close();
  });
  beforeEach(async () => {
    agentId = await place.onboarded();
    to.receiver.received.length = 0;
    to.mails.length = 0;
  });

  /** Sends and delivers an alert. @returns its standing. */
  const notify = async (kind: AgentAlertKind, more: { what: string; level?: number }) => {
    const alert = alertOfAgent(kind, { agent_id: agentId, ...more });
    const state = await place.database.write((transaction) => to.alerts.notify(transaction, alert));
    await delivery.deliverDue();
    return state;
  };

  test.each([
    ['agent.auto_suspended', 'critical', 'Agent suspended: agent'],
    ['agent.composition_changed', 'high', 'Agent changed: agent'],
    ['agent.decoy_used', 'critical', 'Decoy used by agent: agent'],
    ['agent.killed', 'high', 'Kill switch used on agent: agent'],
  ] as const)('%s reaches a webhook and a mail, with how the agent stands', async (kind, severity, subject) => {
    expect(await notify(kind, { what: 'x' })).toBe('pending');
    const url = `https://evidence.example/app/agents/${agentId}`;
    const standing = { agent_id: agentId, name: 'agent', state: 'active', score: 60, tier: 'MONITOR' };
    expect(to.told()).toMatchObject([{ type: kind, data: { ...standing, passport_status: 'valid', url } }]);
    expect(JSON.stringify(to.told())).not.toMatch(/allowed_tools|api\.example\.com|public_keys/);
    const [{ subject: said, text } = { subject: '', text: '' }] = to.mails;
    expect(said).toBe(subject);
    expect(text).toContain(`Severity: ${severity}\nState: active\nTrust: 60 (MONITOR)\nPassport: valid\n`);
  });

  test('the same is told once an hour, another one at once, and what goes further at once', async () => {
    expect(await notify('agent.killed', { what: 'k1' })).toBe('pending');
    expect(await notify('agent.killed', { what: 'k1' })).toBe('suppressed');
    expect(await notify('agent.killed', { what: 'k1', level: 1 })).toBe('pending');
    expect(await notify('agent.killed', { what: 'k2' })).toBe('pending');
    expect(await notify('agent.decoy_used', { what: 'k1' })).toBe('pending');
    expect(to.told()).toHaveLength(4);
    place.now += 61 * 60_000;
    expect(await notify('agent.killed', { what: 'k1' })).toBe('pending');
  });
});
