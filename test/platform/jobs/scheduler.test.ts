import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { Scheduler } from '../../../src/platform/jobs/scheduler.ts';
import type { JobTables } from '../../../src/platform/jobs/tables.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';

const MINUTE = 60_000;

describe.each(DATABASES)('jobs on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let open: () => Database;
  let now: number;
  let runs: number;
  let run: () => Promise<void>;
  const failures: [string, unknown][] = [];
  beforeEach(async () => {
    ({ database, open } = await place.createMigrated());
    now = Date.parse('2026-11-22T00:00:00Z');
    runs = 0;
    run = async () => {
      runs++;
    };
    failures.length = 0;
  });

  const schedulerOn = (on: Database) => {
    const job = { name: 'tidy', everyMs: 10 * MINUTE, atMostMs: 2 * MINUTE, run: () => run() };
    const scheduler = new Scheduler(on, [job], () => new Date(now));
    return () => scheduler.runDue((name, error) => failures.push([name, error]));
  };

  test('run once in all processes together, and again when they are due', async () => {
    const all = [schedulerOn(database), schedulerOn(open()), schedulerOn(open())];
    const rounds: number[] = [];
    for (const minutes of [0, 1, 8, 2, 9, 1]) {
      now += minutes * MINUTE;
      await Promise.all(all.map((runDue) => runDue()));
      rounds.push(runs);
    }
    expect(rounds).toEqual([1, 1, 1, 2, 2, 3]);
  });

  test('one that fails is told of, and runs again', async () => {
    const runDue = schedulerOn(database);
    run = async () => {
      runs++;
      throw new Error('no');
    };
    await runDue();
    expect(failures).toEqual([['tidy', new Error('no')]]);
    const row = await database.tables<JobTables>().selectFrom('jobs').selectAll().executeTakeFirst();
    expect(row).toMatchObject({ name: 'tidy', last_error: 'no' });
    now += 10 * MINUTE;
    run = async () => {
      runs++;
    };
    await runDue();
    expect(runs).toBe(2);
    const later = await database.tables<JobTables>().selectFrom('jobs').selectAll().executeTakeFirst();
    expect(later?.last_error).toBeNull();
  });

  test('one whose process is gone runs in another after the time that it may take', async () => {
    const begun = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<void>();
    run = () => {
      begun.resolve();
      return slow.promise;
    };
    const first = schedulerOn(open())();
    await begun.promise;
    run = async () => {
      runs++;
    };
    const runDue = schedulerOn(database);
    now += MINUTE;
    expect(await runDue()).toEqual([]);
    now += MINUTE;
    expect(await runDue()).toEqual(['tidy']);
    // The slow run's result concerns a run that is already over.
    const before = await database.tables<JobTables>().selectFrom('jobs').selectAll().executeTakeFirst();
    now += MINUTE;
    slow.resolve();
    await first;
    expect(await database.tables<JobTables>().selectFrom('jobs').selectAll().executeTakeFirst()).toEqual(before);
  });
});
