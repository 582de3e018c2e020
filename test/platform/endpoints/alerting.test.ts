import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { alertedEndpoints } from '../../../src/platform/endpoints/alerting.ts';
import type { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { AlertPlace } from '../alerts/alert-place.ts';
import { DATABASES } from '../database/databases.ts';
import { EndpointPlace, HOUR, type Reporter } from './endpoint-place.ts';
import { file, files, SensorDouble } from './sensor-double.ts';

const BEFORE = [file('/usr/bin/a'), file('/usr/sbin/sshd')];
const AFTER = [file('/usr/bin/a', 'b'), file('/usr/sbin/sshd', 'b')];

describe.each(DATABASES)('alerts of endpoints on %s', (_name, start) => {
  let at: EndpointPlace;
  let to: AlertPlace;
  let delivery: OutboxDelivery;
  let host: Reporter;
  beforeAll(async () => {
    at = await EndpointPlace.open(start);
    to = await AlertPlace.open(at);
    at.notifier = to.alerts;
    delivery = to.deliveryFor(alertedEndpoints(at.service.events));
    await to.add({ sources: ['endpoints'] });
    await to.add({ kind: 'email', target: 'ada@example.com', name: 'mail' });
  });
  afterAll(async () => {
    await to.close();
    await at.close();
  });
  beforeEach(async () => {
    host = await at.enrolled();
    await host.baseline(BEFORE);
    to.receiver.received.length = 0;
    to.mails.length = 0;
    at.now += 2 * HOUR;
  });

  const KINDS: readonly (readonly [
    kind: string,
    severity: string,
    subject: string,
    words: string,
    happens: () => Promise<unknown>,
  ])[] = [
    [
      'endpoint.stale',
      'high',
      'stale on host',
      'An endpoint has not reported for three intervals, so its state is unknown.',
      async () => {
        at.now += HOUR;
        await at.stale();
      },
    ],
    [
      'endpoint.changed',
      'critical',
      'binary_modified on host: /usr/sbin/sshd',
      'A file on an endpoint differs from its baseline.',
      () => host.reports(AFTER),
    ],
    [
      'endpoint.chain',
      'high',
      'report_signature on host',
      'Something is wrong with the reports of an endpoint.',
      async () => {
        const { head, lines } = await host.made(BEFORE);
        const forged = new SensorDouble(host.id).signed(head, lines);
        await expect(host.send(forged)).rejects.toMatchObject({ code: 'report_signature' });
      },
    ],
  ];

  test.each(KINDS)('%s reaches a webhook and a mail, once', async (kind, severity, subject, words, happens) => {
    await happens();
    await delivery.deliverDue();
    await delivery.deliverDue();
    const events = await host.open();
    expect(new Set(events.map(({ alert }) => alert))).toEqual(new Set(['delivered']));
    const [{ event_id } = { event_id: '' }] = events.filter((event) => event.severity === severity);
    const url = `https://evidence.example/app/endpoints/events/${event_id}`;
    expect(to.told()).toMatchObject([{ type: kind, data: { event_id, severity, url, events: events.length } }]);
    expect(to.mails).toMatchObject([{ to: 'ada@example.com', subject }]);
    expect(to.mails[0]?.text).toMatch(
      new RegExp(`^${words}\\n\\nEndpoint: host\\nWhat: .*\\nSeverity: ${severity}\\n`),
    );
  });

  test('what one report raised is one alert, which names the worst and counts the others', async () => {
    await host.reports([...files(50), file('/usr/sbin/sshd', 'b')]);
    await delivery.deliverDue();
    expect(to.told()).toMatchObject([{ data: { path: '/usr/sbin/sshd', events: 52 } }]);
    expect(to.mails[0]?.text).toContain('\nOther events in this report: 51\n');
  });

  test('one change on many endpoints is told once an hour', async () => {
    const hosts = [host, await at.enrolled(), await at.enrolled()];
    const changed = [file('/usr/bin/everywhere', host.id), ...BEFORE.slice(1)];
    for (const other of hosts.slice(1)) await other.baseline(BEFORE);
    for (const each of hosts) {
      await each.reports(changed);
      await delivery.deliverDue();
    }
    expect(to.told()).toHaveLength(1);
    expect(await Promise.all(hosts.map(async (each) => (await each.open())[0]?.alert))).toEqual([
      'delivered',
      'suppressed',
      'suppressed',
    ]);
  });
});
