import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KillSwitch } from '../../../../src/platform/agents/kill/kill-switch.ts';
import { sendsSecurityEvents } from '../../../../src/platform/agents/kill/subscribers.ts';
import { subscriberSchema } from '../../../../src/platform/agents/wire/kill.ts';
import { OutboxDelivery } from '../../../../src/platform/jobs/delivery.ts';
import { Outbox } from '../../../../src/platform/jobs/outbox.ts';
import { Dispatcher } from '../../../../src/platform/outgoing/dispatcher.ts';
import { DATABASES } from '../../database/databases.ts';
import { SOMEBODY } from '../../world.ts';
import { AgentPlace } from '../agent-place.ts';
import { killMeansOf, stop } from './kill-place.ts';
import { TokenReceiver } from './receiver.ts';

const AUDIENCE = 'https://relying-party.example';
const OWN = 'urn:evidence-platform:agent';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type';

describe.each(DATABASES)('Security Event Tokens on %s', (_name, start) => {
  let place: AgentPlace;
  let receiver: TokenReceiver;
  let kill: KillSwitch;
  let delivery: OutboxDelivery;
  let subscriberId: string;
  beforeAll(async () => {
    place = await AgentPlace.start(start);
    receiver = await new TokenReceiver().listen();
    const deps = killMeansOf(place, { dispatcher: new Dispatcher({ allowed: [receiver.host] }) });
    kill = new KillSwitch(deps);
    const sends = [...sendsSecurityEvents(deps)];
    delivery = new OutboxDelivery(place.database, {
      clock: deps.clock,
      deliveries: new Map(sends.map(([kind, { deliver }]) => [kind, deliver])),
      notes: new Map(sends.map(([kind, { note }]) => [kind, note])),
    });
  });
  afterAll(async () => {
    await receiver.close();
    await place.close();
  });
  beforeEach(async () => {
    for (const { subscriber_id } of await place.service.subscribers.list())
      await place.service.subscribers.remove(SOMEBODY, subscriber_id);
    const added = await place.service.subscribers.add(SOMEBODY, { url: receiver.url, audience: AUDIENCE });
    subscriberId = added.subscriber_id;
    Object.assign(receiver, { answer: { status: 202 }, attempts: 0 });
    receiver.tokens.length = 0;
  });

  /** Verifies as a relying party does that knows the address of the platform's keys. */
  async function verified(text: string) {
    const keys = createLocalJWKSet((await place.service.public.jwks()) as Parameters<typeof createLocalJWKSet>[0]);
    const { issuer } = { issuer: 'https://platform.example.com/agents' };
    return jwtVerify(text, keys, {
      issuer,
      audience: AUDIENCE,
      typ: 'secevent+jwt',
      algorithms: ['EdDSA'],
      currentDate: new Date(place.now),
    });
  }

  const deliveriesOf = async (killId: string) => (await kill.find(killId)).deliveries;

  test.each([
    ['suspend', 'suspended'],
    ['revoke', 'revoked'],
  ] as const)('tell a relying party, which verifies them, that it was used: %s', async (mode, event) => {
    const parent = await place.onboarded();
    const child = await place.onboarded({ parent_agent_id: parent });
    const { kill_id, deliveries } = await stop(kill, parent, mode);
    const waiting = { subscriber_id: subscriberId, audience: AUDIENCE, event, state: 'pending', attempts: 0 };
    expect(deliveries).toMatchObject([
      { ...waiting, agent_id: child },
      { ...waiting, agent_id: parent },
    ]);
    await delivery.deliverDue();
    expect(receiver.tokens).toHaveLength(2);
    for (const { headers, text } of receiver.tokens) {
      expect(headers).toMatchObject({ 'content-type': 'application/secevent+jwt', accept: 'application/json' });
      const { payload } = await verified(text);
      const about = [parent, child].find((id) => JSON.stringify(payload['sub_id']).includes(id));
      const { jti } = deliveries.find(({ agent_id }) => agent_id === about) ?? {};
      expect(payload).toMatchObject({ jti, txn: kill_id, sub_id: { format: 'did' } });
      expect(payload['exp']).toBeUndefined();
      expect(Object.keys(payload['events'] as object)).toEqual([`${RISC}/account-disabled`, `${OWN}:${event}`]);
      await expect(verified(text.replace(/^[^.]+\.../, (head) => `${head.slice(0, -2)}AA`))).rejects.toThrow();
    }
    expect(await deliveriesOf(kill_id)).toMatchObject([
      { state: 'delivered', attempts: 1 },
      { state: 'delivered', attempts: 1 },
    ]);
  });

  test('tell that an agent is reinstated', async () => {
    const agentId = await place.onboarded();
    await stop(kill, agentId);
    await kill.reinstate(SOMEBODY, agentId, { reason: 'a test' });
    await delivery.deliverDue();
    const events = await Promise.all(receiver.tokens.map(async ({ text }) => (await verified(text)).payload['events']));
    expect(events.flatMap((each) => Object.keys(each as object))).toContain(`${RISC}/account-enabled`);
  });

  test('are sent again with the same id to somebody who does not take them, and the receipt says how they stand', async () => {
    const { kill_id } = await stop(kill, await place.onboarded());
    receiver.answer = { status: 400, body: JSON.stringify({ err: 'invalid_key', description: 'no such key' }) };
    await delivery.deliverDue();
    expect(await deliveriesOf(kill_id)).toMatchObject([{ state: 'pending', attempts: 1, delivered_at: null }]);
    expect(await lastError()).toBe(`${receiver.host} answered with status 400: invalid_key: no such key`);
    receiver.answer = { status: 202 };
    place.now += 60_000;
    await delivery.deliverDue();
    const [delivered] = await deliveriesOf(kill_id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2 });
    const [token] = receiver.tokens;
    expect((await verified(token?.text ?? '')).payload.jti).toBe(delivered?.jti);
    expect(receiver.attempts).toBe(2);
  });

  test('are given up for a subscriber who was removed, and for an address of the inside', async () => {
    const inside = await place.service.subscribers.add(SOMEBODY, { url: 'http://127.0.0.2:1/', audience: 'inside' });
    const { kill_id } = await stop(kill, await place.onboarded());
    await place.service.subscribers.remove(SOMEBODY, subscriberId);
    await delivery.deliverDue();
    expect(receiver.attempts).toBe(0);
    expect(await deliveriesOf(kill_id)).toMatchObject([
      { subscriber_id: subscriberId, state: 'dead' },
      { subscriber_id: inside.subscriber_id, state: 'dead' },
    ]);
    const { data } = await new Outbox(place.database, place.deps.clock).dead({ limit: 10 });
    expect(data.map(({ last_error }) => last_error)).toEqual(
      expect.arrayContaining(['the subscriber was removed', expect.stringContaining('is an internal address')]),
    );
  });

  test('go to somebody once for a request that is sent twice, and to nobody at an address that is none', async () => {
    const input = { url: 'https://other.example/', audience: 'other' };
    const first = await place.service.subscribers.add(SOMEBODY, input, 'key');
    expect(await place.service.subscribers.add(SOMEBODY, input, 'key')).toEqual(first);
    expect(await place.service.subscribers.list()).toHaveLength(2);
    for (const url of ['ftp://a.example/', 'https://user:secret@a.example/', 'https://user@a.example/', 'no address'])
      expect(subscriberSchema.safeParse({ url, audience: 'x' }).error?.issues.map(({ path }) => path)).toEqual([
        ['url'],
      ]);
  });

  async function lastError(): Promise<string | null> {
    const outbox = place.database.tables<{ outbox: { message_no: number; last_error: string | null } }>();
    const rows = outbox.selectFrom('outbox').select('last_error').orderBy('message_no', 'desc').limit(1);
    return (await rows.executeTakeFirstOrThrow()).last_error;
  }
});
