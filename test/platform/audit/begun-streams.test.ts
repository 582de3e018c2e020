import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendAll } from '../../../src/platform/audit/append.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import type { Transaction } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace, type MadeDatabase } from '../database/databases.ts';

const keys = new DerivedSealKeys(Buffer.alloc(32));
const deps = { keys, seals: new RowSeals(keys.ofRows()), clock: () => new Date() };

function entriesOf(streamIds: readonly string[]) {
  const content = { actor: 'a', action: 'b', resource_type: 'c', resource_id: 'd', metadataText: '{}' };
  return streamIds.map((stream_id) => ({ ...content, stream_id }));
}

/** Returns a transaction that counts its statements. */
function counting(transaction: Transaction, counted: { statements: number }): Transaction {
  const count = <T>(value: T): T => {
    counted.statements++;
    return value;
  };
  return {
    sql: transaction.sql,
    sealer: transaction.sealer,
    tables: <Tables>() => count(transaction.tables<Tables>()),
    insertAll: (...rows) => count(transaction.insertAll(...rows)),
    insertAbsent: (...rows) => count(transaction.insertAbsent(...rows)),
    updateAll: (...rows) => count(transaction.updateAll(...rows)),
  };
}

describe.each(DATABASES)('on %s', (_name, start) => {
  let place: DatabasePlace;
  let made: MadeDatabase;
  beforeAll(async () => {
    place = await start();
    made = await place.createMigrated();
  });
  afterAll(() => place.close());

  test('a batch that begins a thousand streams takes as many statements as one that begins two', async () => {
    const statements: number[] = [];
    for (const count of [2, 1000]) {
      const ids = Array.from({ length: count }, (_, at) => `${count} ${at}`);
      const counted = { statements: 0 };
      await made.database.write((transaction) =>
        appendAll(counting(transaction, counted), deps, [{ entries: entriesOf(ids), recordedBy: 'key:k' }]),
      );
      statements.push(counted.statements);
    }
    expect(statements[1]).toBeLessThanOrEqual(statements[0] ?? 0);
    const [{ streams, entries, misplaced }] = (await made.query(`SELECT count(DISTINCT stream_id) AS streams,
      count(*) AS entries, sum(CASE WHEN head_sequence = sequence AND head_hash = hash THEN 0 ELSE 1 END) AS misplaced
      FROM streams JOIN entries ON entries.stream_no = streams.stream_no`)) as [Counts];
    expect([streams, entries, misplaced].map(Number)).toEqual([1002, 1002, 0]);
  });

  test('transactions that begin the same streams at once all append, without a gap', async () => {
    const ids = Array.from({ length: 50 }, (_, at) => `shared ${at}`);
    const other = made.open();
    const append = (database: typeof other) =>
      database.write((transaction) => appendAll(transaction, deps, [{ entries: entriesOf(ids), recordedBy: 'key:k' }]));
    await Promise.all([1, 2, 3, 4].flatMap(() => [append(made.database), append(other)]));
    const rows = (await made.query(`SELECT count(*) AS entries, max(sequence) AS last FROM entries JOIN streams
      ON entries.stream_no = streams.stream_no WHERE stream_id LIKE 'shared %' GROUP BY stream_id`)) as Ends[];
    expect(rows.map(({ entries, last }) => [Number(entries), Number(last)])).toEqual(ids.map(() => [8, 8]));
  });
});

interface Counts {
  streams: number;
  entries: number;
  misplaced: number;
}

interface Ends {
  entries: number;
  last: number;
}
