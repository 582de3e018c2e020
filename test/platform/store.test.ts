import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { entryToJson } from '../../src/platform/audit/rules.ts';
import { EntryPages } from '../../src/platform/audit/store.ts';
import type { EntryRow } from '../../src/platform/store/schema.ts';

const COLUMNS = [
  'entry_id',
  'stream_id',
  'sequence',
  'timestamp',
  'occurred_at',
  'actor',
  'action',
  'resource_type',
  'resource_id',
  'metadata',
  'prev_hash',
  'seal_key_id',
  'hash',
  'seal',
] as const;

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  const columns = COLUMNS.map((column) => `${column} ${column === 'sequence' ? 'INTEGER' : 'TEXT'}`);
  database.exec(`CREATE TABLE entries (${columns})`);
});
afterEach(() => database.close());

function store(rows: readonly EntryRow[]): void {
  const insert = database.prepare(`INSERT INTO entries VALUES (${COLUMNS.map(() => '?')})`);
  for (const row of rows) insert.run(...COLUMNS.map((column) => row[column]));
}

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
  metadata: '{}',
  prev_hash: '0'.repeat(64),
  seal_key_id: 'k',
  hash: '1'.repeat(64),
  seal: '2'.repeat(64),
  ...more,
});

async function read(last: number): Promise<string[]> {
  const pages: string[] = [];
  for await (const page of new EntryPages(database).json('s', 1, last)) pages.push(Buffer.from(page).toString('utf8'));
  return pages;
}

describe('SQLite writes entries as we do', () => {
  test('with every code point in a text', async () => {
    const points = Array.from({ length: 0x110000 }, (_, point) => point).filter((at) => at < 0xd800 || at > 0xdfff);
    const rows: EntryRow[] = [];
    for (let at = 0; at < points.length; at += 4096)
      rows.push(row(rows.length + 1, { actor: String.fromCodePoint(...points.slice(at, at + 4096)) }));
    store(rows);
    expect((await read(rows.length)).join(',') === rows.map(entryToJson).join(',')).toBe(true);
  });

  test('whatever is in which column', async () => {
    const text = fc.string({ unit: 'binary' });
    const texts = fc.record({
      entry_id: text,
      timestamp: text,
      occurred_at: fc.option(text),
      actor: text,
      action: text,
      resource_type: text,
      resource_id: text,
      seal_key_id: text,
      metadata: fc.json(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 5 }), async (records) => {
        const rows = records.map((record, index) => row(index + 1, record));
        database.exec('DELETE FROM entries');
        store(rows);
        expect(await read(rows.length)).toEqual([rows.map(entryToJson).join(',')]);
      }),
    );
  });
});

test('large entries make pages of fewer, and none is lost', async () => {
  const large = JSON.stringify({ text: 'x'.repeat(1.5e6) });
  const rows = Array.from({ length: 1200 }, (_, index) => row(index + 1, index < 9 ? { metadata: large } : {}));
  store(rows);
  const pages = await read(rows.length);
  expect(pages.join(',') === rows.map(entryToJson).join(',')).toBe(true);
  for (const page of pages) expect(page.length).toBeLessThan(2 ** 22 + 500 * 500);
});

test('entries are counted by what they have in common, over holes too', async () => {
  store([row(1), row(2, { actor: 'z' }), row(9_000), row(9_001), row(900_000_000_000, { actor: 'z' })]);
  const totals = new Map<string, number>();
  for await (const { actor, count } of new EntryPages(database).counts('s', 1, Number.MAX_SAFE_INTEGER))
    totals.set(actor, (totals.get(actor) ?? 0) + count);
  expect(Object.fromEntries(totals)).toEqual({ a: 3, z: 2 });
});
