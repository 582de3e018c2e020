import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Appender } from '../../../src/platform/audit/appender.ts';
import { HeadsCheck } from '../../../src/platform/audit/heads-check.ts';
import { inspectStream, type StreamInspection } from '../../../src/platform/audit/inspection.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import { findStream, streamToWire } from '../../../src/platform/audit/streams.ts';
import type { AuditTables } from '../../../src/platform/audit/tables.ts';
import { readTotals } from '../../../src/platform/audit/totals.ts';
import { listVerifications, Verifier } from '../../../src/platform/audit/verifications.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { entry } from '../service.ts';

const keys = new DerivedSealKeys(Buffer.alloc(32));
const seals = new RowSeals(keys.ofRows());
const NEVER = new AbortController().signal;

describe.each(DATABASES)('checks of one stream by two processes on %s', (_name, start) => {
  let place: DatabasePlace;
  let database: Database;
  let other: Database;
  beforeAll(async () => {
    place = await start();
    const created = await place.createMigrated();
    ({ database } = created);
    other = created.open();
    const appender = new Appender(database, { keys, seals, clock: () => new Date(0) });
    await appender.append({ entries: [{ ...entry('s', 1), metadata: {}, metadataText: '{}' }], recordedBy: 'key:k' });
  });
  afterAll(() => place.close());

  let now = 0;
  const clock = () => new Date(++now);
  const inspect = (reader: Database) => (streamId: string, signal: AbortSignal) =>
    inspectStream(reader, { keys, seals, heads: new HeadsCheck(reader, seals) }, streamId, signal);

  /** Starts a process that verifies, and pauses after reading everything until it is told to continue. */
  function slowProcess() {
    const read = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slowly = async (streamId: string, signal: AbortSignal): Promise<StreamInspection> => {
      const inspection = await inspect(database)(streamId, signal);
      read.resolve();
      await goOn.promise;
      return inspection;
    };
    const verifier = new Verifier({ database, seals, clock, inspect: slowly });
    return { verifier, hasRead: read.promise, goOn: goOn.resolve };
  }

  test('are both recorded and counted, and the stream is shown as the one found it that began later', async () => {
    const slow = slowProcess();
    const quick = new Verifier({ database: other, seals, clock, inspect: inspect(other) });
    const first = slow.verifier.verify('s', NEVER);
    await slow.hasRead;
    const second = await quick.verify('s', NEVER);
    slow.goOn();
    const slowest = await first;
    expect([slowest.failures, second.failures]).toEqual([[], []]);
    const { data } = await listVerifications(database, seals, 's', { limit: 10 });
    expect(data).toEqual([slowest, second]);
    const shown = streamToWire(await findStream(database, 's'), seals);
    expect(shown).toMatchObject({ verification_status: 'verified', last_checked_at: second.checked_at });
    expect(await readTotals(database, seals)).toMatchObject({ streams: 1, verified: 1, failed: 0 });
    // Each check has a separate number, so none is missed.
    expect((await quick.verify('s', NEVER)).failures).toEqual([]);
  });

  test('that are recorded in the same moment get a number each', async () => {
    const processes = [database, other].map(
      (each) => new Verifier({ database: each, seals, clock, inspect: inspect(each) }),
    );
    for (let round = 0; round < 5; round++) {
      const checks = await Promise.all(processes.map((verifier) => verifier.verify('s', NEVER)));
      expect(checks.flatMap(({ failures }) => failures)).toEqual([]);
    }
    const query = database.tables<AuditTables>().selectFrom('verifications').select('number').orderBy('number');
    const numbers = (await query.execute()).map(({ number }) => number);
    expect(numbers.length).toBeGreaterThanOrEqual(10);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  });
});
