import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { alertedTraps } from '../../../src/platform/traps/alerting.ts';
import { AlertPlace, MINUTE } from '../alerts/alert-place.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { TrapPlace } from './trap-place.ts';

describe.each(DATABASES)('on %s', (_name, start) => {
  let databases: DatabasePlace;
  let at: TrapPlace;
  let to: AlertPlace;
  let trapNo: number;
  let delivery: OutboxDelivery;
  beforeAll(async () => {
    databases = await start();
  });
  afterAll(() => databases.close());
  beforeEach(async () => {
    const { database } = await databases.createMigrated();
    at = new TrapPlace(database);
    ({ trapNo } = await at.trap());
    to = await AlertPlace.open(at);
    at.notifier = to.alerts;
    delivery = to.deliveryFor(alertedTraps(at.detections));
    await to.add();
  });
  afterEach(() => to.close());

  test('a thousand uses are one alert', async () => {
    await Promise.all(Array.from({ length: 1000 }, () => at.uses.record(at.use(trapNo))));
    const version = await at.detections.currentVersion();
    await delivery.deliverDue();
    const [{ detection_id, ...detection }] = (await at.found()) as [Awaited<ReturnType<typeof at.found>>[0]];
    expect(detection.alert).toEqual({ state: 'delivered', attempts: 1 });
    const url = `https://evidence.example/app/traps/detections/${detection_id}`;
    expect(to.told()).toMatchObject([
      { type: 'trap.used', data: { detection_id, occurrences: 1000, source_ip: '203.0.113.9', url } },
    ]);
    await expect.poll(() => at.detections.currentVersion()).toBeGreaterThan(version);
  });

  test('a receiver that is down for two minutes gets exactly one', async () => {
    to.receiver.status = 503;
    for (const end = at.now + 2 * MINUTE; at.now < end; at.now += 5000) {
      await at.uses.record(at.use(trapNo));
      await delivery.deliverDue();
    }
    expect((await at.found())[0]?.alert.state).toBe('pending');
    expect(to.receiver.attempts).toBeGreaterThan(3);
    to.receiver.status = 204;
    for (const end = at.now + 5 * MINUTE; at.now < end; at.now += 5000) {
      await at.uses.record(at.use(trapNo));
      await delivery.deliverDue();
    }
    expect(to.receiver.received).toHaveLength(1);
    expect((await at.found()).map(({ alert }) => alert.state)).toEqual(['delivered']);
  });

  test('what was told is not told again for an hour, unless somebody goes further', async () => {
    const use = async (more: object) => {
      await at.uses.record(at.use(trapNo, more));
      await delivery.deliverDue();
      return (await at.found())[0]?.alert.state;
    };
    expect(await use({ depth: 'validated' })).toBe('delivered');
    at.now += 20 * MINUTE;
    expect(await use({ depth: 'validated' })).toBe('suppressed');
    expect(await use({ depth: 'validated', userAgent: 'another' })).toBe('suppressed');
    expect(await use({ depth: 'used', userAgent: 'another' })).toBe('delivered');
    expect(await use({ depth: 'validated', sourceIp: '198.51.100.7' })).toBe('delivered');
    expect(await use({ depth: 'validated', sourceIp: null })).toBe('delivered');
    at.now += 61 * MINUTE;
    expect(await use({ depth: 'used' })).toBe('delivered');
    expect(to.receiver.received).toHaveLength(5);
  });

  test('a flood is told twenty times an hour, and what is worse than the flood is told still', async () => {
    for (let n = 0; n < 50; n++)
      await at.uses.record(at.use(trapNo, { sourceIp: `203.0.113.${n}`, depth: 'used', authVerified: false }));
    await at.uses.record(at.use(trapNo, { sourceIp: '198.51.100.7', depth: 'used', authVerified: true }));
    await delivery.deliverDue();
    const severities = to.told().map(({ data }) => data.severity);
    expect(severities.filter((severity) => severity === 'medium')).toHaveLength(20);
    expect(severities.filter((severity) => severity === 'critical')).toHaveLength(1);
    expect((await at.found()).filter(({ alert }) => alert.state === 'suppressed')).toHaveLength(30);
  });

  test('an alert that nobody takes stands so at its detection, and otherwise once it was taken', async () => {
    to.receiver.status = 500;
    await at.uses.record(at.use(trapNo));
    for (let n = 0; n < 12; n++) {
      await delivery.deliverDue();
      at.now += 60 * MINUTE;
    }
    expect((await at.found())[0]?.alert).toEqual({ state: 'dead', attempts: 12 });
    to.receiver.status = 204;
    const [dead] = (await at.outbox.dead({ limit: 10 })).data;
    await at.database.write((transaction) => at.outbox.replay(transaction, dead?.message_id ?? ''));
    await delivery.deliverDue();
    expect((await at.found())[0]?.alert).toEqual({ state: 'delivered', attempts: 1 });
  });

  test('a mail says what is known of the use', async () => {
    await to.add({ kind: 'email', target: 'ada@example.com' });
    await at.uses.record(at.use(trapNo));
    await delivery.deliverDue();
    const [detection] = await at.found();
    expect(to.mails.map(({ subject, text }) => [subject, text.split('\n')])).toEqual([
      [
        'Trap used: a bug by 203.0.113.9',
        [
          ...['Somebody used a trap, a credential that has no legitimate use.', ''],
          ...['Trap: a bug (web_bug, planted at wiki)', 'Depth: read', 'Severity: medium'],
          ...['First seen: 2026-11-22T00:00:00.000Z', 'Last seen: 2026-11-22T00:00:00.000Z', 'Uses: 1'],
          ...['From: 203.0.113.9', 'Client: curl/8', 'Action: GET /x.gif'],
          'Leaked: after 2026-11-22T00:00:00.000Z and before 2026-11-22T00:00:00.000Z',
          ...['', `https://evidence.example/app/traps/detections/${detection?.detection_id}`, ''],
        ],
      ],
    ]);
  });
});
