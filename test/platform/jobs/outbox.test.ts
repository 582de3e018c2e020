import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { ATTEMPTS, type Deliver, OutboxDelivery, Undeliverable } from '../../../src/platform/jobs/delivery.ts';
import { type Message, Outbox, outboxTidyJob } from '../../../src/platform/jobs/outbox.ts';
import type { JobTables } from '../../../src/platform/jobs/tables.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';

describe.each(DATABASES)('the outbox on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let open: () => Database;
  let now: number;
  let delivered: Message[];
  let deliver: Deliver;
  beforeEach(async () => {
    ({ database, open } = await place.createMigrated());
    now = Date.parse('2026-11-22T00:00:00Z');
    delivered = [];
    deliver = async (message) => {
      delivered.push(message);
    };
  });

  const clock = () => new Date(now);
  const outboxOn = (on: Database) => {
    const outbox = new Outbox(on, clock);
    const deliveries = new Map([['webhook', (message: Message) => deliver(message)]]);
    const delivery = new OutboxDelivery(on, { clock, deliveries, random: () => 1 });
    return {
      add: outbox.add.bind(outbox),
      dead: outbox.dead.bind(outbox),
      replay: (id: string) => on.write((transaction) => outbox.replay(transaction, id)),
      deliverDue: () => delivery.deliverDue(),
      start: () =>
        delivery.start({ failed: (error) => expect.unreachable(String(error)), recovered: () => expect.unreachable() }),
    };
  };
  const add = (outbox: ReturnType<typeof outboxOn>, number: number) =>
    database.write((transaction) => outbox.add(transaction, 'webhook', { number }));
  const statuses = async () =>
    (await database.tables<JobTables>().selectFrom('outbox').selectAll().orderBy('message_no').execute()).map(
      ({ status, attempts, last_error }) => ({ status, attempts, last_error }),
    );

  test('delivers what was put in, once, with its id', async () => {
    const outbox = outboxOn(database);
    const id = await add(outbox, 1);
    expect(await outbox.deliverDue()).toBe(1);
    expect(await outbox.deliverDue()).toBe(0);
    expect(delivered).toEqual([{ message_id: id, kind: 'webhook', payload: { number: 1 } }]);
    expect(await statuses()).toEqual([{ status: 'delivered', attempts: 1, last_error: null }]);
  });

  test('has nothing of a transaction that failed', async () => {
    const outbox = outboxOn(database);
    const failing = database.write(async (transaction) => {
      await outbox.add(transaction, 'webhook', {});
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await outbox.deliverDue()).toBe(0);
  });

  test('is emptied by several processes, each message by one of them', async () => {
    const outboxes = [outboxOn(database), outboxOn(open()), outboxOn(open())];
    const ids = [];
    for (let number = 0; number < 90; number++) ids.push(await add(outboxes[0] ?? expect.unreachable(), number));
    await Promise.all(outboxes.map((outbox) => outbox.deliverDue()));
    expect(delivered.map(({ message_id }) => message_id).sort()).toEqual(ids.sort());
  });

  test('tries again with longer and longer pauses, then leaves it to a person, who has it sent again', async () => {
    const outbox = outboxOn(database);
    const id = await add(outbox, 1);
    let attempts = 0;
    deliver = async () => {
      attempts++;
      throw new Error(`no ${attempts}`);
    };
    const pauses: number[] = [];
    await outbox.deliverDue();
    while (attempts < ATTEMPTS) {
      const before = now;
      // Steps grow with the time waited.
      while ((await outbox.deliverDue()) === 0) now += Math.max(500, Math.round((now - before) / 10));
      pauses.push(now - before);
    }
    expect(attempts).toBe(ATTEMPTS);
    expect(pauses.every((pause, at) => at === 0 || pause >= (pauses[at - 1] ?? 0))).toBe(true);
    expect(pauses[0]).toBe(1000);
    expect(await statuses()).toEqual([{ status: 'dead', attempts: ATTEMPTS, last_error: `no ${ATTEMPTS}` }]);
    now += 24 * 60 * 60 * 1000;
    expect(await outbox.deliverDue()).toBe(0);
    const { data } = await outbox.dead({ limit: 10 });
    expect(data).toMatchObject([{ message_id: id, kind: 'webhook', attempts: ATTEMPTS, last_error: `no ${ATTEMPTS}` }]);
    deliver = async (message) => {
      delivered.push(message);
    };
    await outbox.replay(id);
    expect(await outbox.deliverDue()).toBe(1);
    expect(delivered.map(({ message_id }) => message_id)).toEqual([id]);
    await expect(outbox.replay(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('what nobody will ever take is given up at once', async () => {
    const outbox = outboxOn(database);
    await add(outbox, 1);
    deliver = async () => {
      throw new Undeliverable('550 no such user');
    };
    await outbox.deliverDue();
    expect(await statuses()).toEqual([{ status: 'dead', attempts: 1, last_error: '550 no such user' }]);
  });

  test('is looked at again and again until it is stopped', async () => {
    const outbox = outboxOn(database);
    const running = outbox.start();
    await add(outbox, 1);
    await expect.poll(() => delivered.length).toBe(1);
    await running.stop();
    expect(await statuses()).toEqual([{ status: 'delivered', attempts: 1, last_error: null }]);
  });

  test('forgets what was delivered a month ago, and nothing else', async () => {
    const outbox = outboxOn(database);
    await add(outbox, 1);
    await outbox.deliverDue();
    deliver = async () => {
      throw new Undeliverable('no');
    };
    await add(outbox, 2);
    await outbox.deliverDue();
    now += 30 * 24 * 60 * 60_000 + 1;
    await add(outbox, 3);
    await outboxTidyJob(database, clock).run();
    expect((await statuses()).map(({ status }) => status)).toEqual(['dead', 'waiting']);
  });

  test('one that is refused holds up no other', async () => {
    const outbox = outboxOn(database);
    for (let number = 0; number < 3; number++) await add(outbox, number);
    deliver = async (message) => {
      if ((message.payload as { number: number }).number === 1) throw new Error('no');
      delivered.push(message);
    };
    await outbox.deliverDue();
    expect(delivered).toHaveLength(2);
    expect((await statuses()).map(({ status }) => status)).toEqual(['delivered', 'waiting', 'delivered']);
  });

  test('what was under way in a process that is gone is delivered by another, under the same id', async () => {
    const outbox = outboxOn(database);
    const id = await add(outbox, 1);
    const begun = Promise.withResolvers<void>();
    const gone = new Promise<void>(() => {});
    deliver = () => {
      begun.resolve();
      return gone;
    };
    void outboxOn(open()).deliverDue();
    await begun.promise;
    deliver = async (message) => {
      delivered.push(message);
    };
    expect(await outbox.deliverDue()).toBe(0);
    now += 60_001;
    expect(await outbox.deliverDue()).toBe(1);
    expect(delivered.map(({ message_id }) => message_id)).toEqual([id]);
  });

  test('what nobody delivers is said to be so', async () => {
    const outbox = outboxOn(database);
    await database.write((transaction) => outbox.add(transaction, 'pigeon', {}));
    await outbox.deliverDue();
    expect(await statuses()).toEqual([
      { status: 'waiting', attempts: 1, last_error: 'no delivery exists for messages of the kind pigeon' },
    ]);
  });

  test('those that were given up are listed page by page, newest first', async () => {
    const outbox = outboxOn(database);
    const ids: string[] = [];
    for (let number = 0; number < 5; number++) ids.push(await add(outbox, number));
    await database.write((transaction) =>
      transaction.tables<JobTables>().updateTable('outbox').set({ status: 'dead' }).execute(),
    );
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await outbox.dead({ limit: 2, cursor });
      listed.push(...page.data.map(({ message_id }) => message_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(listed).toEqual(ids.toReversed());
  });
});
