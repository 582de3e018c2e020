import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AlertState } from '../../../src/platform/alert-enums.ts';
import type { Alert, AlertedService, AlertStanding } from '../../../src/platform/alerts/alert.ts';
import { sealedChannels } from '../../../src/platform/alerts/sealed-rows.ts';
import { noteStanding } from '../../../src/platform/alerts/sending.ts';
import type { AlertTables } from '../../../src/platform/alerts/tables.ts';
import type { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { World } from '../world.ts';
import { AlertPlace, MINUTE, type Received } from './alert-place.ts';

const HOSTILE = 'x\r\nBcc: mallory@example.com';

describe.each(DATABASES)('on %s', (_name, start) => {
  let databases: DatabasePlace;
  let at: AlertPlace;
  let delivery: OutboxDelivery;
  let world: World;
  /** Present description of each subject. */
  let words: string;
  /** Standing of each alert, by subject. */
  const standing = new Map<string, AlertStanding>();
  const alerted: AlertedService = {
    source: 'endpoints',
    describe: async ({ kind, subject_id }) => ({
      subject: `${subject_id} ${words}`,
      sentence: 'A file is not what it was.',
      facts: [
        ['File', words],
        ['Owner', null],
      ],
      path: `/app/endpoints/${subject_id}`,
      data: { kind, words },
    }),
    async noteAlert(_transaction, subjectId, readStanding) {
      standing.set(subjectId, await readStanding());
    },
  };
  beforeAll(async () => {
    databases = await start();
  });
  afterAll(() => databases.close());
  beforeEach(async () => {
    const { database } = await databases.createMigrated();
    words = 'changed';
    standing.clear();
    world = new World(database);
    at = await AlertPlace.open(world);
    delivery = at.deliveryFor(alerted);
  });
  afterEach(() => at.close());

  const alert = (more: Partial<Alert> = {}): Alert => ({
    source: 'endpoints',
    kind: 'endpoint.changed',
    severity: 'medium',
    subject_id: 'first',
    group_key: 'machine /bin/sh',
    level: 1,
    flood_key: 'machine',
    ...more,
  });
  const notify = (more: Partial<Alert> = {}): Promise<AlertState> =>
    world.database.write((transaction) => at.alerts.notify(transaction, alert(more)));

  test('an alert says what is so when it is sent, and an independent library believes it', async () => {
    const { secret } = await at.add();
    expect(await notify()).toBe('pending');
    words = 'changed twice';
    await delivery.deliverDue();
    const [{ headers, body }] = at.receiver.received as [Received];
    expect(at.told()).toEqual([
      {
        type: 'endpoint.changed',
        timestamp: '2026-11-22T00:00:00.000Z',
        data: { kind: 'endpoint.changed', words, url: 'https://evidence.example/app/endpoints/first' },
      },
    ]);
    // The library uses the machine's clock, which differs from the test's.
    const believed = () => withClock(world.now, () => new Webhook(secret ?? '').verify(body, headers));
    expect(believed()).toEqual(JSON.parse(body));
    expect(() => withClock(world.now, () => new Webhook(secret ?? '').verify(`${body} `, headers))).toThrow();
    expect(standing).toEqual(new Map([['first', { state: 'delivered', attempts: 1 }]]));
  });

  test('it is told in the transaction of what is told, or not at all', async () => {
    await at.add();
    const failing = world.database.write(async (transaction) => {
      await at.alerts.notify(transaction, alert());
      throw new Error('a fault');
    });
    await expect(failing).rejects.toThrow('a fault');
    await delivery.deliverDue();
    expect(at.receiver.attempts).toBe(0);
    expect(await notify()).toBe('pending');
  });

  test('who was told of a key is told again after an hour, and before that of a higher level alone', async () => {
    await at.add();
    const toldOf = async (more: Partial<Alert>) => {
      const state = await notify(more);
      await delivery.deliverDue();
      return state;
    };
    expect(await toldOf({ level: 1 })).toBe('pending');
    world.now += 20 * MINUTE;
    expect(await toldOf({ level: 1, subject_id: 'second' })).toBe('suppressed');
    expect(await toldOf({ level: 0, subject_id: 'second' })).toBe('suppressed');
    expect(await toldOf({ level: 2, subject_id: 'second' })).toBe('pending');
    expect(await toldOf({ group_key: 'machine /bin/ls', subject_id: 'third' })).toBe('pending');
    expect(await toldOf({ source: 'traps', subject_id: 'of another service' })).toBe('pending');
    world.now += 61 * MINUTE;
    expect(await toldOf({ level: 0, subject_id: 'fourth' })).toBe('pending');
    expect(at.receiver.received).toHaveLength(4);
  });

  test('the pause begins when somebody was told, and not before', async () => {
    await at.add();
    at.receiver.status = 500;
    await notify();
    await delivery.deliverDue();
    world.now += 20 * MINUTE;
    expect(await notify({ subject_id: 'second' })).toBe('pending');
  });

  test('a flood is told twenty times an hour, and what is worse than the flood is told still', async () => {
    await at.add();
    const states: AlertState[] = [];
    for (let n = 0; n < 25; n++) states.push(await notify({ subject_id: `${n}`, group_key: `machine ${n}` }));
    expect(states).toEqual([...Array(20).fill('pending'), ...Array(5).fill('suppressed')]);
    const other = { subject_id: 'other', group_key: 'other' };
    expect(await notify({ ...other, severity: 'low' })).toBe('suppressed');
    expect(await notify({ ...other, severity: 'high' })).toBe('pending');
    expect(await notify({ ...other, flood_key: 'another machine' })).toBe('pending');
    world.now += 61 * MINUTE;
    expect(await notify({ subject_id: 'later', group_key: 'later' })).toBe('pending');
  });

  test('an alert that nobody takes is given up, and delivered when a person has it sent again', async () => {
    await at.add();
    at.receiver.status = 500;
    await notify();
    for (let n = 0; n < 12; n++) {
      await delivery.deliverDue();
      expect(standing.get('first')).toEqual({ state: n === 11 ? 'dead' : 'pending', attempts: n + 1 });
      world.now += 60 * MINUTE;
    }
    at.receiver.status = 204;
    const { data } = await world.outbox.dead({ limit: 10 });
    expect(data.map(({ kind, last_error }) => [kind, last_error])).toEqual([
      ['endpoints/alert', `${at.host} answered with status 500`],
    ]);
    await world.database.write((transaction) => world.outbox.replay(transaction, data[0]?.message_id ?? ''));
    await delivery.deliverDue();
    expect(at.receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([data[0]?.message_id]);
    expect(standing.get('first')).toEqual({ state: 'delivered', attempts: 1 });
  });

  test('of several channels one that was told is enough, and one that still may be is not given up', async () => {
    for (let n = 0; n < 3; n++) await at.add({ name: `${n}` });
    await notify();
    await notify({ source: 'traps' });
    const messages = world.database.tables<{ alert_messages: Alert & { message_id: string } }>();
    const ofThis = messages.selectFrom('alert_messages').select('message_id').where('source', '=', 'endpoints');
    const ids = (await ofThis.execute()).map(({ message_id }) => message_id);
    const note = noteStanding(alerted, world.clock);
    const states = [];
    for (const [of, status, attempts] of [
      [0, 'dead', 12],
      [1, 'waiting', 1],
      [1, 'dead', 1],
      [2, 'dead', 2],
      [2, 'delivered', 3],
    ] as const) {
      await world.database.write((transaction) => note(transaction, ids[of] ?? '', { status, attempts }));
      states.push(standing.get('first')?.state);
    }
    expect(states).toEqual(['pending', 'pending', 'pending', 'dead', 'delivered']);
    expect(standing.get('first')?.attempts).toBe(12);
  });

  test.each(['http://127.0.0.1:1/x', 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/', 'http://10.0.0.1/'])(
    'no channel to the inside is added, and nothing is sent to one that leads there later: %s',
    async (target) => {
      await expect(at.add({ target })).rejects.toMatchObject({ code: 'invalid_request', field: 'target' });
      expect(await at.alerts.channels.list()).toEqual([]);
      const channel = await at.add();
      await world.database.write((transaction) => sealedChannels.change(transaction, channel, { target }));
      await notify();
      await delivery.deliverDue();
      expect((await world.outbox.dead({ limit: 10 })).data[0]?.last_error).toContain('nothing was sent');
      expect(standing.get('first')?.state).toBe('dead');
    },
  );

  test.each([
    ['alerting_channels', { target: 'http://elsewhere.example/' }],
    ['alerting_channels', { least_severity: 'critical' }],
    ['alert_messages', { subject_id: 'other' }],
  ] as const)('nothing is sent by a row of %s that was changed in the database: %j', async (table, change) => {
    await at.add();
    const edit = () =>
      world.database.write((transaction) =>
        transaction.tables<Record<string, object>>().updateTable(table).set(change).execute(),
      );
    if (table === 'alerting_channels') await edit();
    await notify();
    if (table === 'alert_messages') await edit();
    await delivery.deliverDue();
    expect(at.receiver.attempts).toBe(0);
    expect((await world.outbox.dead({ limit: 10 })).data[0]?.last_error).toContain('evidence-platform fsck');
  });

  test('an alert that somebody wrote into the database suppresses no other', async () => {
    await at.add();
    await notify({ group_key: 'another' });
    await delivery.deliverDue();
    await world.database.write((transaction) =>
      transaction.tables<AlertTables>().updateTable('alert_messages').set({ group_key: alert().group_key }).execute(),
    );
    expect(await notify()).toBe('pending');
  });

  test('a mail says what happened, and no line of it is what a stranger wrote', async () => {
    await at.add({ kind: 'email', target: 'Ada@Example.com' });
    await notify();
    words = HOSTILE;
    await delivery.deliverDue();
    expect(at.mails.map(({ to, subject, text }) => [to, subject, text])).toEqual([
      [
        'ada@example.com',
        'first x Bcc: mallory@example.com',
        'A file is not what it was.\n\nFile: x Bcc: mallory@example.com\n\nhttps://evidence.example/app/endpoints/first\n',
      ],
    ]);
  });

  test('a channel hears of nothing less than it wants, and of nothing once it is removed', async () => {
    const { alert_channel_id } = await at.add({ least_severity: 'high' });
    expect(await notify()).toBe('none');
    expect(await notify({ severity: 'critical' })).toBe('pending');
    await at.remove(alert_channel_id);
    await delivery.deliverDue();
    expect(at.receiver.received).toEqual([]);
    expect(standing.get('first')?.state).toBe('dead');
    expect(await at.alerts.channels.list()).toEqual([]);
    const acts = await at.acts();
    expect(acts.map(({ action }) => action)).toEqual(['alert_channel.added', 'alert_channel.removed']);
    expect(JSON.stringify(acts)).not.toMatch(/\/hook|"here"/);
  });

  test('a channel of some services hears of no other', async () => {
    await at.add({ sources: ['traps'] });
    expect(await notify()).toBe('none');
    expect(await notify({ source: 'traps' })).toBe('pending');
    await at.add({ sources: ['endpoints', 'traps'] });
    expect(await notify()).toBe('pending');
    expect((await at.alerts.channels.list()).map(({ sources }) => sources)).toEqual([
      ['traps'],
      ['traps', 'endpoints'],
    ]);
  });

  test('a channel is tried without anything to tell', async () => {
    const { alert_channel_id } = await at.add();
    await at.alerts.channels.test(alert_channel_id);
    const mail = await at.add({ kind: 'email', target: 'ada@example.com' });
    await at.alerts.channels.test(mail.alert_channel_id);
    await delivery.deliverDue();
    expect(at.told()).toEqual([{ type: 'alert.test', timestamp: '2026-11-22T00:00:00.000Z', data: null }]);
    expect(at.mails.map(({ subject }) => subject)).toEqual(['Test alert']);
    expect(standing.size).toBe(0);
  });

  test.each([
    ['webhook', 'ftp://example.com/'],
    ['webhook', 'https://ada:secret@example.com/'],
    ['webhook', 'not an address'],
    ['email', 'nobody'],
  ])('no %s goes to %s', async (kind, target) => {
    await expect(at.add({ kind, target })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await at.alerts.channels.list()).toEqual([]);
  });
});

/** Runs a function with another time on the machine's clock. */
function withClock<T>(now: number, work: () => T): T {
  const real = Date.now;
  Date.now = () => now;
  try {
    return work();
  } finally {
    Date.now = real;
  }
}
