import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EntryPages } from '../../../src/platform/audit/entry-rows.ts';
import { createStreams, lockHeads } from '../../../src/platform/audit/head-rows.ts';
import { addEntries, type EntryRow } from '../../../src/platform/audit/repository.ts';
import { entryText, entryToJson } from '../../../src/platform/audit/rules.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';

const SEALS = new RowSeals(createSecretKey(Buffer.alloc(32)));

const row = (sequence: number, more: Partial<EntryRow> = {}): EntryRow => ({
  entry_id: `e${sequence}`,
  stream_id: 's',
  sequence,
  timestamp: '2026-10-01T00:00:00.000Z',
  occurred_at: null,
  actor: 'a',
  action: 'b',
  resource_type: 'c',
  resource_id: 'd',
  recorded_by: 'key:k',
  metadata: '{}',
  prev_hash: '0'.repeat(64),
  seal_key_id: 'k',
  hash: '1'.repeat(64),
  seal: '2'.repeat(64),
  ...more,
});

describe.each(DATABASES)('entries as %s reads them', (_name, start) => {
  let place: DatabasePlace;
  let database: Database;
  let streams = 0;
  beforeAll(async () => {
    place = await start();
    database = (await place.createMigrated()).database;
  });
  afterAll(() => place.close());

  /** Inserts rows into a new stream. */
  async function store(rows: readonly EntryRow[], streamId = `s${++streams}`) {
    const stream_no = await database.write(async (transaction) => {
      const head = (await lockHeads(transaction, SEALS, [streamId], new Date())).get(streamId);
      if (head === undefined) throw new Error('no head');
      const end = rows.at(-1);
      Object.assign(head, { hash: end?.hash, lastEntryAt: end?.timestamp });
      await createStreams(transaction, SEALS, [head]);
      await addEntries(
        transaction,
        rows.map((row) => ({ row, head })),
      );
      return head.streamNo as number;
    });
    return { stream_no, stream_id: streamId };
  }

  async function read(stream: { stream_no: number; stream_id: string }, last: number): Promise<string[]> {
    const pages: string[] = [];
    for await (const page of new EntryPages(database).json(stream, 1, last))
      pages.push(Buffer.from(page).toString('utf8').replace(/^,/, ''));
    return pages;
  }

  const expected = (rows: readonly EntryRow[], { stream_id }: { stream_id: string }) =>
    rows.map((each) => entryToJson({ ...each, stream_id })).join(',');

  test('are written as we write them, whatever is in which column', async () => {
    const text = fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', ''));
    const texts = fc.record({
      entry_id: text,
      timestamp: text,
      occurred_at: fc.option(text),
      actor: text,
      action: text,
      resource_type: text,
      resource_id: text,
      seal_key_id: text,
      metadata: fc.dictionary(text, fc.jsonValue()).map((each) => JSON.stringify(each)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 5 }), text, async (records, streamId) => {
        const rows = records.map((record, index) => row(index + 1, record));
        const stream = await store(rows, `${++streams}${streamId}`);
        expect(await read(stream, rows.length)).toEqual([expected(rows, stream)]);
        const contents: string[] = [];
        for await (const page of new EntryPages(database).toCheck(stream, 1, rows.length))
          contents.push(...page.map(({ content }) => content));
        expect(contents).toEqual(rows.map((each) => entryText({ ...each, stream_id: stream.stream_id })));
      }),
    );
  });

  test('come in pages of fewer where they are large, and none is lost', async () => {
    const large = JSON.stringify({ text: 'x'.repeat(1.5e6) });
    const rows = Array.from({ length: 1200 }, (_, index) => row(index + 1, index < 9 ? { metadata: large } : {}));
    const stream = await store(rows);
    const pages = await read(stream, rows.length);
    expect(pages.join(',') === expected(rows, stream)).toBe(true);
    for (const page of pages) expect(page.length).toBeLessThan(2 ** 22 + 500 * 500);
  });

  test('are counted by what they have in common, over holes too', async () => {
    const stream = await store([
      row(1),
      row(2, { actor: 'z' }),
      row(9_000),
      row(9_001),
      row(900_000_000_000, { actor: 'z' }),
    ]);
    const totals = new Map<string, number>();
    for await (const { actor, count } of new EntryPages(database).counts(stream, 1, Number.MAX_SAFE_INTEGER))
      totals.set(actor, (totals.get(actor) ?? 0) + count);
    expect(Object.fromEntries(totals)).toEqual({ a: 3, z: 2 });
  });
});
