import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Appender } from '../../../src/platform/audit/appender.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import { readStats } from '../../../src/platform/audit/stats.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { entry } from '../service.ts';

const keys = new DerivedSealKeys(Buffer.alloc(32));
const seals = new RowSeals(keys.ofRows());
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BEGIN = Date.parse('2026-10-01T00:00:00.000Z');

/** Times on hours, beside hours and in between. */
const TIMES = [0, 1, HOUR - 1, HOUR, HOUR + 1, 1.5 * HOUR, 2 * HOUR, DAY - 1, DAY, DAY + 1, DAY + 1.5 * HOUR];

describe.each(DATABASES)('the statistics of %s', (_name, start) => {
  let place: DatabasePlace;
  let database: Database;
  beforeAll(async () => {
    place = await start();
    database = (await place.createMigrated()).database;
    let now = 0;
    const appender = new Appender(database, { keys, seals, clock: () => new Date(BEGIN + now) });
    for (const time of TIMES) {
      now = time;
      await appender.append({
        entries: ['a', 'b', 'a'].map((streamId) => ({ ...entry(streamId, 1), metadata: {}, metadataText: '{}' })),
        recordedBy: 'key:k',
      });
    }
  });
  afterAll(() => place.close());

  test.each(TIMES)(
    'count the entries of this hour and the 24 before, when %i ms have passed since the first',
    async (passed) => {
      const now = BEGIN + passed + DAY;
      const since = Math.floor((now - DAY) / HOUR) * HOUR;
      const inside = TIMES.filter((time) => BEGIN + time >= since);
      expect(await readStats(database, seals, new Date(now))).toMatchObject({
        streams: 2,
        entries: 3 * TIMES.length,
        entries_24h: 3 * inside.length,
        missing_streams: 0,
      });
    },
  );
});
