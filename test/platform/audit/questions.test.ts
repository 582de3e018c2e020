import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalize, type Json } from '../../../src/core/json/canonical.ts';
import { appendAll } from '../../../src/platform/audit/append.ts';
import { addZone, readZone, ZONE } from '../../../src/platform/audit/entry-index.ts';
import { EntryIndexing } from '../../../src/platform/audit/entry-indexing.ts';
import { listEntries } from '../../../src/platform/audit/list.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import { entriesQuerySchema, type WireEntry } from '../../../src/platform/audit/wire.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace, type MadeDatabase, startPostgresPlace } from '../database/databases.ts';

const keys = new DerivedSealKeys(Buffer.alloc(32));
const seals = new RowSeals(keys.ofRows());
const START = Date.parse('2026-10-01T09:00:00.000Z');
const LONG = `${'long-'.repeat(200)}end`;

/** Texts that a database, an index or its query language could take for something else. */
const HOSTILE = [
  'plain',
  'per%cent',
  'under_score',
  'star*',
  'quote"s and \'s',
  'a AND b OR NOT c',
  'NEAR(a b, 2)',
  'actor:ada',
  '-minus ^caret {braces} (paren',
  'back\\slash \\u0041',
  "Robert'); DROP TABLE entries;--",
  'Grüße aus Köln',
  'ПРИВЕТ мир',
  '日本語 テキスト',
  'Kelvin \u212a sign',
  'e\u0301 combined',
  '\u202eoverride',
  'line\nbreak\ttab',
  LONG,
];

const ENTRIES = Array.from({ length: 1200 }, (_, number) => ({
  stream_id: `s${number % 7}`,
  actor: HOSTILE[number % HOSTILE.length] ?? '',
  action: ['login', 'read', 'write', 'logout'][number % 4] ?? '',
  resource_type: number % 300 === 299 ? 'rare' : 'file',
  resource_id: `r-${number}`,
  metadata: {
    number,
    flag: number % 2 === 0,
    text: HOSTILE[(number * 7) % HOSTILE.length] ?? '',
    'ke"y': 'x',
    nested: [{ depth: `d${number % 50}`, nul: '\u0000null' }],
  } as { [name: string]: Json },
}));

/** Recorded a second after the other. */
async function append(database: Database, entries: typeof ENTRIES, first = 0): Promise<void> {
  for (let at = 0; at < entries.length; at += 30) {
    const some = entries.slice(at, at + 30).map((entry) => ({ ...entry, metadataText: canonicalize(entry.metadata) }));
    const clock = () => new Date(START + (first + at) * 1000);
    await database.write((transaction) =>
      appendAll(transaction, { keys, seals, clock }, [{ entries: some, recordedBy: 'key:k' }]),
    );
  }
}

type Asked = Record<string, string | string[]>;

async function pagesOf(database: Database, asked: Asked, between?: () => Promise<void>): Promise<WireEntry[]> {
  const found: WireEntry[] = [];
  for (let cursor: string | undefined; ; ) {
    // SQLite answers without leaving the turn, in which no writer gets on.
    await nextTurn();
    const query = entriesQuerySchema.parse({ ...asked, cursor });
    const text = Buffer.from(await listEntries(database, query, new AbortController().signal)).toString();
    const { data, next_cursor } = JSON.parse(text) as { data: WireEntry[]; next_cursor: string | null };
    found.push(...data);
    if (next_cursor === null) return found;
    cursor = next_cursor;
    await between?.();
  }
}

const numbersOf = (entries: readonly WireEntry[]) => entries.map(({ metadata }) => Number(metadata['number']));

function indexingOf(database: Database): EntryIndexing {
  return new EntryIndexing({ database, read: (zone) => readZone(database, zone) });
}

/** Number of zones that are complete. */
const ZONES = Math.floor(ENTRIES.length / ZONE);

async function zonesOf({ query }: MadeDatabase): Promise<number> {
  const [row] = (await query('SELECT count(*) AS zones FROM entry_zones')) as { zones: number }[];
  return Number(row?.zones);
}

type Given = (typeof ENTRIES)[number];
type Question = [asked: Asked, matches: (entry: Given, number: number) => boolean];

const at = (number: number) => new Date(START + number * 1000).toISOString();
const QUESTIONS: Question[] = [
  [{}, () => true],
  ...HOSTILE.map((actor): Question => [{ actor }, (entry) => entry.actor === actor]),
  ...['%', '_', 'star%', 'under%score', 'plai', 'PLAIN', `${LONG}x`].map((actor): Question => [{ actor }, () => false]),
  [{ action: 'read' }, ({ action }) => action === 'read'],
  [{ resource_type: 'rare' }, ({ resource_type }) => resource_type === 'rare'],
  [{ resource_id: 'r-17' }, ({ resource_id }) => resource_id === 'r-17'],
  [{ resource_id: 'none' }, () => false],
  [
    { action: 'read', resource_type: 'rare' },
    ({ action, resource_type }) => action === 'read' && resource_type === 'rare',
  ],
  [{ stream_id: 's3' }, ({ stream_id }) => stream_id === 's3'],
  [{ stream_id: 's3', action: 'login' }, ({ stream_id, action }) => stream_id === 's3' && action === 'login'],
  [{ stream_id: ['s1', 's5'] }, ({ stream_id }) => ['s1', 's5'].includes(stream_id)],
  [{ stream_id: ['s1', 'none'], action: 'read' }, ({ stream_id, action }) => stream_id === 's1' && action === 'read'],
  [{ stream_id: ['none', 'no'] }, () => false],
  [{ from: at(300) }, (_entry, number) => number >= 300],
  [{ to: at(300) }, (_entry, number) => number < 300],
  [
    { from: at(300), to: at(360), action: 'read' },
    ({ action }, number) => number >= 300 && number < 360 && action === 'read',
  ],
  [
    { stream_id: 's3', from: at(300), to: at(360) },
    ({ stream_id }, number) => number >= 300 && number < 360 && stream_id === 's3',
  ],
  [{ from: at(10_000) }, () => false],
  [{ q: 'plain' }, ({ actor, metadata }) => [actor, metadata['text']].includes('plain')],
  [{ q: 'PLAIN' }, ({ actor, metadata }) => [actor, metadata['text']].includes('plain')],
  [{ q: 'plai' }, () => false],
  [{ q: 'plai*' }, () => false],
  [{ q: 'login 16' }, ({ action }, number) => action === 'login' && number === 16],
  [{ q: 'r-17' }, (_entry, number) => number === 17],
  [{ q: 'score % _ * "' }, (entry) => says(entry, 'under_score')],
  [{ q: 'a AND b OR NOT c' }, (entry) => says(entry, 'a AND b OR NOT c')],
  [{ q: 'NEAR(a b, 2)' }, (entry) => says(entry, 'NEAR(a b, 2)')],
  [{ q: 'actor:ada' }, (entry) => says(entry, 'actor:ada')],
  [{ q: '-minus' }, (entry) => says(entry, '-minus ^caret {braces} (paren')],
  [{ q: 'GRÜSSE' }, () => false],
  [{ q: 'GRÜßE köln' }, (entry) => says(entry, 'Grüße aus Köln')],
  [{ q: 'привет' }, (entry) => says(entry, 'ПРИВЕТ мир')],
  [{ q: 'テキスト' }, (entry) => says(entry, '日本語 テキスト')],
  [{ q: 'kelvin \u212a' }, (entry) => says(entry, 'Kelvin \u212a sign')],
  [{ q: 'k' }, () => false],
  [{ q: 'break' }, (entry) => says(entry, 'line\nbreak\ttab')],
  [{ q: 'nbreak' }, () => false],
  [{ q: 'u0041' }, (entry) => says(entry, 'back\\slash \\u0041')],
  [{ q: 'null d49' }, (_entry, number) => number % 50 === 49],
  [{ q: 'true 44' }, (_entry, number) => number === 44],
  [{ metadata: 'number:44' }, (_entry, number) => number === 44],
  [{ metadata: 'number:4' }, (_entry, number) => number === 4],
  [
    { metadata: 'flag:true', resource_type: 'rare' },
    ({ resource_type }, number) => resource_type === 'rare' && number % 2 === 0,
  ],
  [{ metadata: 'depth:d49' }, (_entry, number) => number % 50 === 49],
  [{ metadata: 'depth:d4' }, (_entry, number) => number % 50 === 4],
  [{ metadata: 'text:actor:ada' }, ({ metadata }) => metadata['text'] === 'actor:ada'],
  [{ metadata: 'text:star*' }, ({ metadata }) => metadata['text'] === 'star*'],
  [{ metadata: 'y:x' }, () => false],
  [{ metadata: 'ke"y:x', resource_id: 'r-3' }, (_entry, number) => number === 3],
  [{ metadata: 'text:' }, () => false],
];

function says({ actor, metadata }: Given, text: string): boolean {
  return actor === text || metadata['text'] === text;
}

describe.each(DATABASES)('on %s', (_name, start) => {
  let place: DatabasePlace;
  let made: MadeDatabase;
  beforeAll(async () => {
    place = await start();
    made = await place.createMigrated();
    await append(made.database, ENTRIES);
  });
  afterAll(() => place.close());

  describe.each(['before', 'after'])('%s entries are in the index', (when) => {
    beforeAll(async () => {
      if (when === 'after') await indexingOf(made.database).catchUp();
      expect(await zonesOf(made)).toBe(when === 'after' ? ZONES : 0);
    });

    test.each(QUESTIONS)(
      '%j finds exactly the matching entries, in both orders and any page size',
      async (asked, matches) => {
        const expected = ENTRIES.flatMap((entry, number) => (matches(entry, number) ? [number] : []));
        expect(numbersOf(await pagesOf(made.database, { ...asked, limit: '500' }))).toEqual(expected);
        const newest = await pagesOf(made.database, { ...asked, limit: '170', order: 'newest' });
        expect(numbersOf(newest)).toEqual(expected.toReversed());
      },
    );
  });

  test.each(['oldest', 'newest'])(
    'entries appended between pages neither repeat nor hide others, %s first',
    async (order) => {
      const { database } = await place.createMigrated();
      await append(database, ENTRIES.slice(0, 120));
      let more = 120;
      const between = async () => {
        await append(database, ENTRIES.slice(more, Math.min(more + 30, 600)), more);
        more += 30;
        await indexingOf(database).catchUp();
      };
      const found = numbersOf(await pagesOf(database, { action: 'read', order, limit: '7' }, between));
      const there = ENTRIES.flatMap(({ action }, number) => (action === 'read' && number < 120 ? [number] : []));
      expect(new Set(found).size).toBe(found.length);
      expect(found).toEqual(expect.arrayContaining(there));
      expect(found).toEqual(found.toSorted((a, b) => (order === 'oldest' ? a - b : b - a)));
    },
  );

  test('a reader of the oldest first misses no entry of writers in several processes', async () => {
    const { database, open } = await place.createMigrated();
    const others = [database, open(), open()];
    const writing = others.map(async (other, writer) => {
      for (let round = 0; round < 12; round++) {
        const some = ENTRIES.slice(0, 30).map((entry) => ({ ...entry, stream_id: `${entry.stream_id}/${writer}` }));
        await append(other, some, round);
      }
    });
    const reading = open();
    const found = await pagesOf(reading, { limit: '9' });
    let isOver = false;
    const done = Promise.all(writing).finally(() => {
      isOver = true;
    });
    while (!isOver) expectNoGap(await pagesOf(reading, { limit: '50' }));
    await done;
    expectNoGap(found);
    const all = await pagesOf(database, { limit: '500' });
    expect(all).toHaveLength(3 * 12 * 30);
    expectNoGap(all);
  });

  test('an index that another process has written meanwhile is not written twice', async () => {
    const other = await place.createMigrated();
    const { database, open } = other;
    await append(database, ENTRIES);
    await Promise.all([indexingOf(database), indexingOf(open()), indexingOf(open())].map((each) => each.catchUp()));
    expect(await zonesOf(other)).toBe(ZONES);
    expect(numbersOf(await pagesOf(database, { resource_id: 'r-17' }))).toEqual([17]);
  });
});

/** Expects the entries of each stream to be its first ones. */
function expectNoGap(entries: readonly WireEntry[]): void {
  const last = new Map<string, number>();
  for (const { stream_id, sequence } of entries) {
    expect(sequence, stream_id).toBe((last.get(stream_id) ?? 0) + 1);
    last.set(stream_id, sequence);
  }
}

test('on PostgreSQL, a page of the oldest entries waits for a transaction whose entries come first', async () => {
  const place = await startPostgresPlace();
  try {
    const { database, open } = await place.createMigrated();
    await append(database, ENTRIES.slice(0, 20));
    const other = open();
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const { promise: assigned, resolve: assign } = Promise.withResolvers<void>();
    const held = ENTRIES.slice(20, 21).map((entry) => ({ ...entry, metadataText: canonicalize(entry.metadata) }));
    const holding = other.write(async (transaction) => {
      await appendAll(transaction, { keys, seals, clock: () => new Date() }, [{ entries: held, recordedBy: 'key:k' }]);
      assign();
      await mayCommit;
    });
    await assigned;
    const later = ENTRIES.slice(21, 61).map((entry) => ({ ...entry, stream_id: `later ${entry.stream_id}` }));
    await append(database, later, 21);
    let pages = 0;
    const found = await pagesOf(database, { limit: '10' }, async () => {
      // The next page would start after the entry that is not there yet.
      if (++pages === 2) void database.snapshot(async () => {}).then(commit);
    });
    await holding;
    expect(numbersOf(found)).toEqual(Array.from({ length: 61 }, (_, number) => number));
    // A last page may go beyond: no later one follows.
    expect(numbersOf(await pagesOf(database, { limit: '100' }))).toHaveLength(61);
  } finally {
    await place.close();
  }
});

test('a block with too many terms is found by every term', async () => {
  for (const [, start] of DATABASES) {
    const place = await start();
    const { database } = await place.createMigrated();
    await append(database, ENTRIES.slice(0, ZONE + 1));
    const zone = await readZone(database, 0);
    await addZone(database, { ...zone, blocks: zone.blocks.map(({ block }) => ({ block, terms: null })) });
    expect(numbersOf(await pagesOf(database, { resource_id: 'r-17', q: 'r' }))).toEqual([17]);
    expect(numbersOf(await pagesOf(database, { stream_id: ['s1', 's2'], q: 'none' }))).toEqual([]);
    await place.close();
  }
});
