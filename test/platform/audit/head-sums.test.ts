import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Appender } from '../../../src/platform/audit/appender.ts';
import { acceptHeads, headsFit } from '../../../src/platform/audit/head-sum-rows.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import { DATABASES, type DatabasePlace, type MadeDatabase } from '../database/databases.ts';
import { entry } from '../service.ts';

const keys = new DerivedSealKeys(Buffer.alloc(32));
const seals = new RowSeals(keys.ofRows());

describe.each(DATABASES)('the sum over all heads on %s', (name, start) => {
  let place: DatabasePlace;
  let made: MadeDatabase;
  beforeAll(async () => {
    place = await start();
    made = await place.createMigrated();
  });
  afterAll(() => place.close());

  const fits = () => made.database.snapshot((reader) => headsFit(reader, seals));
  const appenderOf = (database = made.database) => new Appender(database, { keys, seals, clock: () => new Date() });

  function append(appender: Appender, streamId: string, number: number) {
    const content = { ...entry(streamId, number), metadata: {}, metadataText: '{}' };
    return appender.append({ entries: [content], recordedBy: 'key:k' });
  }

  test('fits before anything was recorded', async () => {
    expect(await fits()).toBe(true);
  });

  test('fits while and after many processes append, and none waits for a lane of another', async () => {
    const appenders = [appenderOf(), appenderOf(made.open()), appenderOf(made.open())];
    const seen: boolean[] = [];
    for (let round = 0; round < 10; round++) {
      const writes = appenders.flatMap((appender, at) =>
        [1, 2, 3, 4].map((number) => append(appender, `${at} ${number}`, round)),
      );
      seen.push(await fits());
      await Promise.all([...writes, append(appenderOf(), 'shared', round)]);
    }
    expect([...seen, await fits()]).toEqual(Array.from({ length: 11 }, () => true));
    const lanes = (await made.query('SELECT changes FROM head_sums')) as { changes: number }[];
    const used = lanes.filter(({ changes }) => Number(changes) > 0);
    expect(used.length > 1).toBe(name === 'PostgreSQL');
  });

  test('shows no change of a head, neither by its seal nor by the number of its seal', async () => {
    const stored = async () => {
      const [{ head_seal }] = (await made.query("SELECT head_seal FROM streams WHERE stream_id = 'shown'")) as [Head];
      const lanes = (await made.query('SELECT sum FROM head_sums')) as Lane[];
      return { seal: head_seal, sum: lanes.reduce((total, { sum }) => total + BigInt(`0x${sum}`), 0n) };
    };
    await append(appenderOf(), 'shown', 1);
    const before = await stored();
    await append(appenderOf(), 'shown', 2);
    const after = await stored();
    const change = BigInt.asUintN(256, after.sum - before.sum);
    const [bySeal, byNumber] = [(seal: string) => BigInt(`0x${seal}`), (seal: string) => seals.headNumber(seal)];
    for (const numberOf of [bySeal, byNumber])
      expect(change).not.toBe(BigInt.asUintN(256, numberOf(after.seal) - numberOf(before.seal)));
    expect(await fits()).toBe(true);
  });

  test.each([
    ['changed', 'UPDATE head_sums SET sum = seal WHERE lane = 0'],
    ['of another count', 'UPDATE head_sums SET changes = changes + 1 WHERE lane = 0'],
    ['removed', 'DELETE FROM head_sums WHERE lane = 0'],
    [
      'removed, and another in its place',
      'DELETE FROM head_sums WHERE lane = 0; UPDATE head_sums SET lane = 0 WHERE lane = 7',
    ],
  ])('does not fit with a lane that was %s, until it is accepted', async (_name, edit) => {
    await append(appenderOf(), 'edited', 1);
    expect(await fits()).toBe(true);
    for (const statement of edit.split(';')) await made.query(statement);
    expect(await fits()).toBe(false);
    await append(appenderOf(), 'edited', 2);
    expect(await fits()).toBe(false);
    const accept = () => made.database.write((transaction) => acceptHeads(transaction, seals));
    expect([await accept(), await accept(), await fits()]).toEqual([true, false, true]);
    await append(appenderOf(), 'edited', 3);
    expect(await fits()).toBe(true);
  });

  test('does not fit if a lane saw more changes of another than that one has', async () => {
    await append(appenderOf(), 'before', 1);
    const [{ sum, nonce, seal, changes, seen }] = (await made.query('SELECT * FROM head_sums WHERE lane = 1')) as [
      Lane,
    ];
    const later = { lane: 1, changes: Number(changes) + 1, nonce, sum, seen: '[[0, 1000000]]' };
    await made.query(
      `UPDATE head_sums SET changes = ${later.changes}, seen = '${later.seen}', seal = '${seals.headSum(later)}' WHERE lane = 1`,
    );
    expect(await fits()).toBe(false);
    await made.query(`UPDATE head_sums SET changes = ${changes}, seen = '${seen}', seal = '${seal}' WHERE lane = 1`);
    expect(await fits()).toBe(true);
  });
});

interface Head {
  head_seal: string;
}

interface Lane {
  changes: number;
  nonce: string;
  sum: string;
  seen: string;
  seal: string;
}
