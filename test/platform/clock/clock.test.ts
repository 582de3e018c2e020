import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PlatformClock } from '../../../src/platform/clock/clock.ts';
import type { ClockTables } from '../../../src/platform/clock/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';

const START = Date.parse('2026-11-22T00:00:00.000Z');
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const YEARS = 4 * 365 * DAY;

describe.each(DATABASES)('on %s', (_name, start) => {
  let place: DatabasePlace;
  let database: Database;
  /** True time since the start. */
  let passed: number;

  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());
  beforeEach(async () => {
    database = (await place.createMigrated()).database;
    passed = 0;
  });

  /** Starts a process on a machine whose clock is wrong by `wrong`. */
  async function aProcess(wrong = 0) {
    const machine = { wrong };
    const wall = () => START + passed + machine.wrong;
    const clock = new PlatformClock({ wall, steady: () => passed });
    await clock.begin(database);
    return { machine, clock, look: () => clock.look(database), error: () => clock.now().getTime() - START - passed };
  }

  test.each([
    ['a second', SECOND, true],
    ['five minutes', 5 * MINUTE, true],
    ['a quarter of an hour', 15 * MINUTE, true],
    ['a little more', 15 * MINUTE + 1, false],
    ['a day', DAY, false],
    ['four years', YEARS, false],
  ])('a jump ahead by %s while running', async (_case, jump, isFollowed) => {
    const { machine, clock, look, error } = await aProcess();
    passed += MINUTE;
    clock.now();
    machine.wrong = jump;
    await look();
    expect([clock.jump === null, error()]).toEqual([isFollowed, isFollowed ? jump : 0]);
    if (!isFollowed) expect(() => clock.requireKnown()).toThrow(expect.objectContaining({ code: 'clock_ahead' }));
    passed += 2 * DAY;
    expect(error()).toBe(isFollowed ? jump : 0);
    machine.wrong = 0;
    expect([clock.jump, error()]).toEqual([null, 0]);
  });

  test.each([SECOND, MINUTE, DAY, YEARS])('a clock that goes back by %s ms is followed', async (back) => {
    const { machine, clock, look, error } = await aProcess();
    machine.wrong = -back;
    await look();
    expect([clock.jump, error()]).toEqual([null, -back]);
  });

  test.each([HOUR, DAY, YEARS])('a clock that was behind by %s ms is followed once it is right', async (behind) => {
    const first = await aProcess();
    passed += 3 * DAY;
    await first.look();
    const [early, late] = [await aProcess(), await aProcess(-behind)];
    early.machine.wrong = -behind;
    for (const { look, error } of [early, late]) {
      expect(error()).toBe(-behind);
      await look();
    }
    passed += 2 * HOUR;
    for (const { look, error } of [early, late]) {
      await look();
      expect(error()).toBe(-behind);
    }
    for (const one of [early, late, await aProcess()]) {
      one.machine.wrong = 0;
      expect([one.clock.jump, one.error()]).toEqual([null, 0]);
      one.machine.wrong = YEARS;
      expect([one.clock.jump === null, one.error()]).toEqual([false, 0]);
    }
  });

  test('a clock that was behind is not followed beyond the time before that, or if a person accepted it', async () => {
    const one = await aProcess();
    one.clock.now();
    one.machine.wrong = -DAY;
    one.clock.now();
    passed += HOUR;
    one.machine.wrong = HOUR;
    expect([one.clock.jump === null, one.error()]).toEqual([false, -DAY]);
    one.machine.wrong = -DAY;
    await database.write((transaction) => one.clock.accept(transaction));
    one.machine.wrong = 0;
    expect(one.clock.jump).not.toBeNull();
  });

  test.each([
    ['months', 300 * DAY, true],
    ['four years', YEARS, false],
    ['less than nothing, as after a clock that was ahead', -YEARS, true],
  ])('a start after %s', async (_case, off, isFollowed) => {
    await aProcess();
    passed = off;
    const { clock, look } = await aProcess();
    await look();
    expect(clock.jump === null).toBe(isFollowed);
    await database.write((transaction) => clock.accept(transaction));
    expect([clock.jump, (await aProcess()).clock.jump]).toEqual([null, null]);
  });

  test('a jump that another process accepts is accepted by all that read the same', async () => {
    const [one, other] = [await aProcess(), await aProcess()];
    for (const { machine, look } of [one, other]) {
      await look();
      machine.wrong = DAY;
    }
    expect([one.clock.jump, other.clock.jump]).not.toContain(null);
    const command = await aProcess(DAY);
    expect(await database.write((transaction) => command.clock.accept(transaction))).not.toBeNull();
    for (const { look, clock, error } of [one, other]) {
      await look();
      expect([clock.jump, error()]).toEqual([null, DAY]);
    }
  });

  test('of two running processes, the one that is ahead is not relied on', async () => {
    const [right, ahead] = [await aProcess(), await aProcess(DAY)];
    expect(ahead.error()).toBe(DAY);
    for (let count = 0; count < 12; count++) {
      passed += 10 * SECOND;
      for (const { look } of [ahead, right]) await look();
    }
    await ahead.look();
    expect([right.clock.jump, right.error()]).toEqual([null, 0]);
    expect(ahead.clock.jump).not.toBeNull();
    expect(Math.abs(ahead.error())).toBeLessThan(MINUTE);
  });

  test('it is written that a platform runs, but nothing of a jump', async () => {
    const { machine, look } = await aProcess();
    passed += 10 * DAY;
    await look();
    machine.wrong = YEARS;
    passed += DAY;
    await look();
    const row = await database.tables<ClockTables>().selectFrom('clock').select('seen_at').executeTakeFirstOrThrow();
    expect(Date.parse(row.seen_at) - START).toBe(10 * DAY);
  });

  test('what another process wrote long ago says nothing about the present time', async () => {
    const [one, other] = [await aProcess(), await aProcess()];
    await one.look();
    passed += 2 * MINUTE;
    await other.look();
    passed += DAY;
    await one.look();
    expect([one.clock.jump, one.error()]).toEqual([null, 0]);
  });
});
