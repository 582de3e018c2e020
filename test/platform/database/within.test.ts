import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Transaction } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migration.ts';
import { OutOfTime, writeWithin } from '../../../src/platform/database/within.ts';
import { DATABASES, type DatabasePlace } from './databases.ts';

const LONG_MS = 10_000;
const SHORT_MS = 200;

interface Tables {
  things: { name: string };
}

describe.each(DATABASES)('a transaction that has so long on %s', (_name, start) => {
  let place: DatabasePlace;
  let database: Database;
  beforeAll(async () => {
    place = await start();
    ({ database } = await place.create());
    await migrate(database, { things: ({ text, end }) => [`CREATE TABLE things (name ${text} PRIMARY KEY) ${end}`] });
  });
  afterAll(() => place.close());

  const add = async (transaction: Transaction, name: string) => {
    await transaction.tables<Tables>().insertInto('things').values({ name }).execute();
    return name;
  };
  const names = async () =>
    (await database.tables<Tables>().selectFrom('things').select('name').orderBy('name').execute()).map(
      ({ name }) => name,
    );

  test('is there when it ends in time', async () => {
    expect(await writeWithin(database, LONG_MS, (transaction) => add(transaction, 'in time'))).toBe('in time');
    expect(await names()).toContain('in time');
  });

  test('leaves nothing when it does not, whatever it does afterwards, and is in nobody’s way', async () => {
    let late: unknown;
    const slow = writeWithin(database, SHORT_MS, async (transaction) => {
      await add(transaction, 'before');
      await sleep(3 * SHORT_MS);
      late = await add(transaction, 'after').catch((error) => error);
      throw late;
    });
    await expect(slow).rejects.toBeInstanceOf(OutOfTime);
    await database.write((transaction) => add(transaction, 'of another'));
    await expect.poll(() => late).toBeInstanceOf(OutOfTime);
    expect(await names()).not.toContain('before');
    expect(await names()).not.toContain('after');
    expect(await names()).toContain('of another');
  });

  test('does not wait longer for what another one holds, and does nothing once that is free', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((isHeld) => {
      void database.write(async (transaction) => {
        await add(transaction, 'held');
        isHeld();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      });
    });
    await held;
    const begun = performance.now();
    const waiting = writeWithin(database, SHORT_MS, (transaction) => add(transaction, 'held'));
    await expect(waiting).rejects.toThrow();
    expect(performance.now() - begun).toBeLessThan(SHORT_MS + 2000);
    release();
    await database.write((transaction) => add(transaction, 'next'));
    expect((await names()).filter((name) => name === 'held')).toEqual(['held']);
  });
});
