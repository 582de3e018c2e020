import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json/canonical.ts';
import { Appender } from '../../../src/platform/audit/appender.ts';
import { HeadsCheck } from '../../../src/platform/audit/heads-check.ts';
import { inspectStream } from '../../../src/platform/audit/inspection.ts';
import { listEntries } from '../../../src/platform/audit/list.ts';
import { checkMetadata } from '../../../src/platform/audit/metadata.ts';
import { settlePackage } from '../../../src/platform/audit/packing.ts';
import type { EntryRow } from '../../../src/platform/audit/repository.ts';
import { rotateSealKey } from '../../../src/platform/audit/rotation.ts';
import { entryText, GENESIS, hashContent, sealHash } from '../../../src/platform/audit/rules.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import { Faults, Walk } from '../../../src/platform/audit/walk.ts';
import { newEntrySchema, type WireEntry } from '../../../src/platform/audit/wire.ts';
import { DATABASES, type DatabasePlace, type MadeDatabase } from '../database/databases.ts';
import { entry } from '../service.ts';

const START = Date.parse('2026-11-22T00:00:00.000Z');
const [SECOND, MINUTE, DAY] = [1000, 60_000, 86_400_000];
const YEARS = 4 * 365 * DAY;
const FOREVER = new AbortController().signal;
const SMALL = { bytes: 1, members: 1, depth: 1, values: 1 };

describe.each(DATABASES)('on %s', (_name, start) => {
  let place: DatabasePlace;
  let made: MadeDatabase;
  let now: number;
  const keys = new DerivedSealKeys(randomBytes(32));
  const seals = new RowSeals(keys.ofRows());

  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());
  beforeEach(async () => {
    made = await place.createMigrated();
    now = START;
  });

  /** Returns a process of the platform. @param ahead difference of its clock. */
  function aProcess(ahead = 0) {
    const deps = { keys, seals, clock: () => new Date(now + ahead) };
    const appender = new Appender(made.database, deps);
    return {
      deps,
      async append(numbers: readonly number[], at = now) {
        now = at;
        const entries = checkMetadata(
          numbers.map((number) => entry('s', number)),
          SMALL,
          String,
        );
        const appended = await appender.append({ entries, recordedBy: 'key:k' });
        return appended.map(({ row }) => row.sequence);
      },
    };
  }

  async function entriesOf(query: { from?: string; to?: string } = {}): Promise<WireEntry[]> {
    const page = await listEntries(made.database, { limit: 500, order: 'oldest', stream_id: ['s'], ...query }, FOREVER);
    return JSON.parse(new TextDecoder().decode(page)).data;
  }
  const inspect = async () =>
    (await inspectStream(made.database, { keys, seals, heads: new HeadsCheck(made.database, seals) }, 's', FOREVER))
      .found;
  const corrections = async () => (await entriesOf()).filter(({ action }) => action === 'clock.corrected');

  test.each([
    ['not at all', 0, 0],
    ['by a second', SECOND, 0],
    ['by five seconds', 5 * SECOND, 0],
    ['by a little more', 5 * SECOND + 1, 1],
    ['by five minutes', 5 * MINUTE, 1],
    ['by a day', DAY, 1],
    ['by four years', YEARS, 1],
  ])('a stream goes on after a clock that was ahead %s', async (_case, ahead, expected) => {
    const { append } = aProcess();
    await append([1], START + ahead);
    expect(await append([2, 3], START)).toEqual([2 + expected, 3 + expected]);
    const found = await corrections();
    const [wrong, right] = [START + ahead, START].map((time) => new Date(time).toISOString());
    expect(found.map(({ sequence, timestamp, metadata }) => ({ sequence, timestamp, metadata }))).toEqual(
      expected === 0 ? [] : [{ sequence: 2, timestamp: right, metadata: { now: right, previous: wrong } }],
    );
    expect((await entriesOf()).at(-1)?.timestamp).toBe(expected === 0 ? wrong : right);
    expect(await inspect()).toMatchObject({ verified: true, clock_corrections: expected, failures: [] });
  });

  test('and after one that is wrong twice, in one batch and by a rotation', async () => {
    const { append, deps } = aProcess();
    await append([1], START + YEARS);
    await append([2], START);
    await append([3], START + 2 * YEARS);
    now = START + MINUTE;
    expect(await rotateSealKey(made.database, deps, 's')).toMatchObject({ sequence: 6 });
    await append([4]);
    expect((await corrections()).map(({ sequence }) => sequence)).toEqual([2, 5]);
    expect(await inspect()).toMatchObject({ verified: true, entries_checked: 7, clock_corrections: 2, failures: [] });
  });

  test('two processes whose clocks differ both record', async () => {
    const [right, ahead] = [aProcess(), aProcess(DAY)];
    for (let number = 0; number < 4; number++) await (number % 2 === 0 ? ahead : right).append([number]);
    expect(await corrections()).toHaveLength(2);
    expect(await inspect()).toMatchObject({ verified: true, clock_corrections: 2 });
  });

  test('a list and a package of a period have every entry of it', async () => {
    const { append } = aProcess();
    await append([1], START);
    await append([2], START + YEARS);
    await append([3], START + MINUTE);
    await append([4], START + DAY);
    const period = { from: new Date(START).toISOString(), to: new Date(START + 2 * DAY).toISOString() };
    expect((await entriesOf(period)).map(({ sequence }) => sequence)).toEqual([1, 3, 4, 5]);
    expect((await entriesOf({ from: period.from })).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect((await entriesOf({ to: period.to })).map(({ sequence }) => sequence)).toEqual([1, 3, 4, 5]);
    const request = { stream_id: 's', ...period };
    const order = { packageId: 'p', now: period.to, request };
    expect(await settlePackage(made.database, seals, order, FOREVER)).toMatchObject({ entry_count: 5 });
  });
});

/** Returns the findings of a walk over entries with these changes, each sealed as the platform does. */
function findingsOf(changes: readonly Partial<EntryRow>[]): string[] {
  const [keys, faults] = [new DerivedSealKeys(Buffer.alloc(32)), new Faults()];
  const head = { streamId: 's', createdAt: '', sequence: changes.length, hash: '', count: changes.length };
  const counts = { lastEntryAt: '', checkpoints: 0, anchored: 0, verifications: 0, packages: 0, sealEpoch: 1 };
  const walk = new Walk(keys, { head: { ...head, ...counts }, anchors: [], hours: new Map() }, faults);
  const { id, key } = keys.of('s', 1);
  let prev_hash = GENESIS;
  for (const [index, change] of changes.entries()) {
    const [sequence, timestamp] = [index + 1, new Date(START).toISOString()];
    const who = { actor: 'a', action: 'b', resource_type: 'c', resource_id: 'd', recorded_by: 'key:k' };
    const place = { entry_id: `${sequence}`, stream_id: 's', sequence, timestamp, occurred_at: null };
    const row = { ...place, ...who, metadata: '{}', prev_hash, seal_key_id: id, ...change };
    const content = entryText(row);
    const hash = hashContent(content);
    walk.step({ ...row, recorded: sequence, content, hash, seal: sealHash(key, hash) });
    prev_hash = hash;
  }
  return faults.told(0).map(({ code, sequence }) => `${code} ${sequence}`);
}

describe('times that go back', () => {
  const [late, early] = ['2030-01-01T00:00:00.000Z', '2026-11-22T00:00:00.000Z'];
  const ahead = { timestamp: late };
  const marks = { action: 'clock.corrected', resource_type: 'clock', timestamp: early };
  const stated = (metadata: Json) => ({ ...marks, metadata: JSON.stringify(metadata) });
  const truth = { now: early, previous: late };
  const wrong = ['clock_mismatch 2'];

  test.each<[string, Partial<EntryRow>[], string[]]>([
    ['are sound if stated', [ahead, stated(truth), {}], []],
    ['are found if not stated', [ahead, {}], wrong],
    ['are found if stated too late', [ahead, {}, stated(truth)], [...wrong, 'clock_mismatch 3']],
    ['are found if another time was before', [ahead, stated({ ...truth, previous: early })], wrong],
    ['are found if another time is stated', [ahead, stated({ ...truth, now: late })], wrong],
    ['are found if more is stated', [ahead, stated({ ...truth, zone: 'UTC' })], wrong],
    ['are found if the statement is nested', [ahead, stated({ metadata: truth })], wrong],
    ['are found if something else is corrected', [ahead, { ...stated(truth), resource_type: 'watch' }], wrong],
    ['are not stated without going back', [{}, stated({ now: early, previous: early })], wrong],
    ['are not stated by a first entry', [stated(truth)], ['clock_mismatch 1']],
  ])('%s', (_case, changes, expected) => {
    expect(findingsOf(changes)).toEqual(expected);
  });
});

test('a caller cannot state that the clock was corrected', () => {
  const stated = { ...entry('s', 1), action: 'clock.corrected', resource_type: 'clock' };
  expect(newEntrySchema.safeParse(stated).error?.issues[0]).toMatchObject({ path: ['action'] });
  expect(newEntrySchema.safeParse({ ...stated, resource_type: 'wall' }).success).toBe(true);
});
