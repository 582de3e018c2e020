import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json/canonical.ts';
import { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { Outbox } from '../../../src/platform/jobs/outbox.ts';
import type { OutgoingMail } from '../../../src/platform/mail/mail.ts';
import { migrateAll } from '../../../src/platform/migrations.ts';
import { Dispatcher } from '../../../src/platform/outgoing/dispatcher.ts';
import { ALERT_KIND } from '../../../src/platform/traps/alerts/alerting.ts';
import { AlertChannels } from '../../../src/platform/traps/alerts/channels.ts';
import { sendAlerts } from '../../../src/platform/traps/alerts/sending.ts';
import { noteAlert } from '../../../src/platform/traps/alerts/standing.ts';
import { newAlertChannelSchema } from '../../../src/platform/traps/requests.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { SOMEBODY, TrapPlace } from './trap-place.ts';

const MINUTE = 60_000;

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Something that takes webhooks, or refuses them. */
class Receiver {
  readonly received: Received[] = [];
  status = 204;
  attempts = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      this.attempts++;
      const body = (await request.toArray()).join('');
      if (this.status === 204) this.received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(this.status).end();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((done) => this.#server.close(() => done()));
  }
}

describe.each(DATABASES)('on %s', (_name, start) => {
  let databases: DatabasePlace;
  let at: TrapPlace;
  let trapNo: number;
  let channels: AlertChannels;
  let outbox: Outbox;
  let delivery: OutboxDelivery;
  let receiver: Receiver;
  let host: string;
  const mails: OutgoingMail[] = [];
  beforeAll(async () => {
    databases = await start();
  });
  afterAll(() => databases.close());
  beforeEach(async () => {
    const { database } = await databases.create();
    await migrateAll(database);
    at = new TrapPlace(database);
    ({ trapNo } = await at.trap());
    const clock = () => new Date(at.now);
    outbox = new Outbox(database, clock);
    at.outbox = outbox;
    receiver = new Receiver();
    host = await receiver.listen();
    const means = { database, clock, vault: at.vault, log: at.log, outbox };
    channels = new AlertChannels(means);
    mails.length = 0;
    const mail = { to: 'here', send: async (each: OutgoingMail) => void mails.push(each), close: () => {} };
    const dispatcher = new Dispatcher({ allowed: [host] });
    const publicUrl = () => 'https://evidence.example';
    const deliver = sendAlerts({ ...means, detections: at.detections, dispatcher, publicUrl }, mail);
    delivery = new OutboxDelivery(database, {
      clock,
      deliveries: new Map([[ALERT_KIND, deliver]]),
      notes: new Map([[ALERT_KIND, noteAlert(clock)]]),
      random: () => 0.5,
    });
  });
  afterEach(() => receiver.close());

  const add = (more: object = {}) =>
    channels.add(
      SOMEBODY,
      newAlertChannelSchema.parse({ kind: 'webhook', name: 'here', target: `http://${host}/hook`, ...more }),
    );

  test('a thousand uses are one alert, which an independent library believes', async () => {
    const { secret } = await add();
    await Promise.all(Array.from({ length: 1000 }, () => at.uses.record(at.use(trapNo))));
    await delivery.deliverDue();
    expect(receiver.received).toHaveLength(1);
    const [{ headers, body }] = receiver.received as [Received];
    // The library looks at the clock of the machine, which is another one than that of the test.
    const { data } = JSON.parse(body);
    expect(data).toMatchObject({ occurrences: 1000, source_ip: '203.0.113.9', url: expect.stringContaining('/app/') });
    const believed = () => withClock(at.now, () => new Webhook(secret ?? '').verify(body, headers));
    expect(believed()).toEqual(JSON.parse(body));
    expect(() => withClock(at.now, () => new Webhook(secret ?? '').verify(`${body} `, headers))).toThrow();
    expect((await at.found())[0]?.alert).toEqual({ state: 'delivered', attempts: 1 });
  });

  test('a receiver that is down for two minutes gets exactly one', async () => {
    await add();
    receiver.status = 503;
    for (const end = at.now + 2 * MINUTE; at.now < end; at.now += 5000) {
      await at.uses.record(at.use(trapNo));
      await delivery.deliverDue();
    }
    expect((await at.found())[0]?.alert.state).toBe('pending');
    expect(receiver.attempts).toBeGreaterThan(3);
    receiver.status = 204;
    for (const end = at.now + 5 * MINUTE; at.now < end; at.now += 5000) {
      await at.uses.record(at.use(trapNo));
      await delivery.deliverDue();
    }
    expect(receiver.received).toHaveLength(1);
    expect((await at.found()).map(({ alert }) => alert.state)).toEqual(['delivered']);
  });

  test('what was told is not told again for an hour, unless somebody goes further', async () => {
    await add();
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
    at.now += 61 * MINUTE;
    expect(await use({ depth: 'used' })).toBe('delivered');
    expect(receiver.received).toHaveLength(4);
  });

  test('the pause begins when somebody was told, and not before', async () => {
    await add();
    receiver.status = 500;
    await at.uses.record(at.use(trapNo));
    await delivery.deliverDue();
    at.now += 20 * MINUTE;
    await at.uses.record(at.use(trapNo));
    expect((await at.found()).map(({ alert }) => alert.state)).toEqual(['pending', 'pending']);
  });

  test('a flood is told twenty times an hour, and what is worse than the flood is told still', async () => {
    await add();
    for (let n = 0; n < 50; n++)
      await at.uses.record(at.use(trapNo, { sourceIp: `203.0.113.${n}`, depth: 'used', authVerified: false }));
    await at.uses.record(at.use(trapNo, { sourceIp: '198.51.100.7', depth: 'used', authVerified: true }));
    await delivery.deliverDue();
    const severities = receiver.received.map(({ body }) => JSON.parse(body).data.severity);
    expect(severities.filter((severity) => severity === 'medium')).toHaveLength(20);
    expect(severities.filter((severity) => severity === 'critical')).toHaveLength(1);
    expect((await at.found()).filter(({ alert }) => alert.state === 'suppressed')).toHaveLength(30);
  });

  test('an alert that nobody takes is given up, and delivered when a person has it sent again', async () => {
    await add();
    receiver.status = 500;
    await at.uses.record(at.use(trapNo));
    for (let n = 0; n < 12; n++) {
      await delivery.deliverDue();
      at.now += 60 * MINUTE;
    }
    expect((await at.found())[0]?.alert).toEqual({ state: 'dead', attempts: 12 });
    receiver.status = 204;
    const { data } = await outbox.dead({ limit: 10 });
    expect(data.map(({ last_error }) => last_error)).toEqual([`${host} answered with status 500`]);
    await at.database.write((transaction) => outbox.replay(transaction, data[0]?.message_id ?? ''));
    await delivery.deliverDue();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([data[0]?.message_id]);
    expect((await at.found())[0]?.alert.state).toBe('delivered');
  });

  test.each(['http://127.0.0.1:1/x', 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/', 'http://10.0.0.1/'])(
    'nothing is sent to the inside: %s',
    async (target) => {
      await add({ target });
      await at.uses.record(at.use(trapNo));
      await delivery.deliverDue();
      expect((await outbox.dead({ limit: 10 })).data[0]?.last_error).toContain('nothing was sent');
      expect((await at.found())[0]?.alert.state).toBe('dead');
    },
  );

  test('a mail says what happened, and no line of it is what a stranger wrote', async () => {
    await add({ kind: 'email', target: 'Ada@Example.com' });
    await at.uses.record(at.use(trapNo, { userAgent: 'x\r\nBcc: mallory@example.com' }));
    await delivery.deliverDue();
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ['ada@example.com', 'Trap used: a bug by 203.0.113.9'],
    ]);
    expect(mails[0]?.text.split('\n').some((line) => line.startsWith('Bcc:'))).toBe(false);
    expect(mails[0]?.text).toContain('Uses so far: 1');
  });

  test('a channel hears of nothing less than it wants, and of nothing once it is removed', async () => {
    const { alert_channel_id } = await add({ least_severity: 'high' });
    await at.uses.record(at.use(trapNo, { depth: 'read' }));
    expect((await at.found())[0]?.alert.state).toBe('none');
    await at.uses.record(at.use(trapNo, { depth: 'used', sourceIp: null }));
    await channels.remove(SOMEBODY, alert_channel_id);
    await delivery.deliverDue();
    expect(receiver.received).toEqual([]);
    expect(await channels.list()).toEqual([]);
    const actions = (await at.entries()).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['alert_channel.added', 'alert_channel.removed']));
    expect(JSON.stringify((await at.entries()).map(({ metadata }) => metadata as Json))).not.toContain('/hook');
  });

  test('a channel is tried without a detection', async () => {
    const { alert_channel_id } = await add();
    await channels.test(alert_channel_id);
    await delivery.deliverDue();
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'trap.alert_test', data: null });
    expect(await at.found()).toEqual([]);
  });

  test.each([
    ['webhook', 'ftp://example.com/'],
    ['webhook', 'https://ada:secret@example.com/'],
    ['webhook', 'not an address'],
    ['email', 'nobody'],
  ])('no %s goes to %s', async (kind, target) => {
    await expect(add({ kind, target })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await channels.list()).toEqual([]);
  });
});

/** Runs something with another time on the clock of the machine. */
function withClock<T>(now: number, work: () => T): T {
  const real = Date.now;
  Date.now = () => now;
  try {
    return work();
  } finally {
    Date.now = real;
  }
}
