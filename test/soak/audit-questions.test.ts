import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { Appender } from '../../src/platform/audit/appender.ts';
import { listEntries, listStreams } from '../../src/platform/audit/list.ts';
import { DerivedSealKeys } from '../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../src/platform/audit/sealed-rows.ts';
import { readActivity, readAuditOverview, readStats } from '../../src/platform/audit/stats.ts';
import { entriesQuerySchema, streamsQuerySchema } from '../../src/platform/audit/wire.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { DATABASES, type MadeDatabase } from '../platform/database/databases.ts';
import { fill, index, NOW, STREAMS, timeOf } from './filled.ts';

/** Size of the database, which `AUDIT_ENTRIES` sets. */
const ENTRIES = Number(process.env['AUDIT_ENTRIES'] ?? 1_000_000);
const ROUNDS = Number(process.env['AUDIT_ROUNDS'] ?? 40);
const LIST_MS = 50;
const SEARCH_MS = 500;
/** Factor for a machine that is busy or slow. */
const SLOWNESS = Number(process.env['SLOWNESS'] ?? 1);
const NAMES = (process.env['DATABASES'] ?? 'SQLite PostgreSQL').split(' ');

const keys = new DerivedSealKeys(Buffer.alloc(32));
const seals = new RowSeals(keys.ofRows());
async function bytesOf({ database, query }: MadeDatabase): Promise<number> {
  const [row] = (await query(
    database.dialect === 'sqlite'
      ? 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'
      : 'SELECT pg_database_size(current_database()) AS bytes',
  )) as { bytes: number }[];
  return Number(row?.bytes);
}

/** Returns batches of 50 entries a second, one after the other, while the index is written or not. */
async function appendRate(database: Database, isIndexed: boolean): Promise<string> {
  const appender = new Appender(database, { keys, seals, clock: () => new Date() });
  const metadataText = '{"address":"10.0.0.1","number":1,"reason":"as long as what people write into it"}';
  const latencies: number[] = [];
  const began = performance.now();
  for (let batch = 0; batch < 400; batch++) {
    const from = performance.now();
    const entries = Array.from({ length: 50 }, (_, at) => ({
      stream_id: `new-${isIndexed}-${(batch * 50 + at) % 100}`,
      actor: `user-${at}@example.com`,
      action: 'object.read',
      resource_type: 'bucket',
      resource_id: `new/${batch * 50 + at}`,
      metadataText,
    }));
    await appender.append({ entries, recordedBy: 'key:k' });
    latencies.push(performance.now() - from);
    if (isIndexed && batch % 20 === 19) await index(database);
  }
  const rate = (400 * 50 * 1000) / (performance.now() - began);
  return `${rate.toFixed(0)} entries/s, p99 ${percentile(latencies, 0.99).toFixed(0)} ms`;
}

function percentile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
}

type Asked = Record<string, string | string[]>;

const at = (number: number) => timeOf(number, ENTRIES);
const spread = (round: number) => 1 + Math.floor((round * ENTRIES) / (ROUNDS + 1));
const LISTS: [string, number, (round: number) => Asked][] = [
  ['newest first', LIST_MS, () => ({ order: 'newest' })],
  ['oldest first', LIST_MS, () => ({})],
  ['one stream, newest first', LIST_MS, (round) => ({ stream_id: `stream-${1 + round}`, order: 'newest' })],
  ['three streams', LIST_MS, (round) => ({ stream_id: ['stream-1', 'stream-77', `stream-${100 + round}`] })],
  ['actor', LIST_MS, (round) => ({ actor: `user-${round}@example.com`, order: 'newest' })],
  ['actor that nobody has', LIST_MS, (round) => ({ actor: `nobody-${round}` })],
  [
    'actor of one stream',
    LIST_MS,
    (round) => ({ actor: `user-${round * 7}@example.com`, stream_id: `stream-${1 + round}` }),
  ],
  ['common action', LIST_MS, () => ({ action: 'object.read', order: 'newest' })],
  ['rare action', LIST_MS, () => ({ action: 'key.deleted', order: 'newest' })],
  ['action that nothing has', LIST_MS, () => ({ action: 'none' })],
  ['resource', LIST_MS, (round) => ({ resource_type: 'bucket', resource_id: `object/${spread(round)}` })],
  ['resource that nothing has', LIST_MS, () => ({ resource_id: 'none', order: 'newest' })],
  ['actor and action', LIST_MS, (round) => ({ actor: `user-${round}@example.com`, action: 'object.read' })],
  ['an hour', LIST_MS, (round) => ({ from: at(spread(round)), to: at(spread(round) + ENTRIES / 720) })],
  ['the future', LIST_MS, () => ({ from: at(2 * ENTRIES) })],
  [
    'actor in a day',
    LIST_MS,
    (round) => ({
      actor: `user-${round}@example.com`,
      from: at(spread(round)),
      to: at(spread(round) + ENTRIES / 30),
      order: 'newest',
    }),
  ],
  ['search: rare word', SEARCH_MS, (round) => ({ q: `object ${spread(round)}`, order: 'newest' })],
  ['search: common words', SEARCH_MS, () => ({ q: 'people write', order: 'newest' })],
  ['search: a word in a thousand', SEARCH_MS, (round) => ({ q: `user ${round} example`, order: 'newest' })],
  ['search: absent word', SEARCH_MS, () => ({ q: 'nowhere', order: 'newest' })],
  ['search: member of metadata', SEARCH_MS, (round) => ({ metadata: `number:${spread(round)}` })],
];

function questionsOf(database: Database): [string, number, (round: number) => Promise<unknown>][] {
  const { signal } = new AbortController();
  const stale = streamsQuerySchema.parse({ verification_status: 'unverified' });
  return [
    ...LISTS.map(([name, most, asked]): [string, number, (round: number) => Promise<unknown>] => [
      name,
      most,
      (round) => listEntries(database, entriesQuerySchema.parse(asked(round)), signal),
    ]),
    ['streams without a check', LIST_MS, () => listStreams(database, seals, stale)],
    ['statistics', LIST_MS, () => database.snapshot((reader) => readStats(reader, seals, NOW))],
    ['activity', LIST_MS, () => readActivity(database, NOW)],
    ['front page', LIST_MS, () => readAuditOverview(database, seals, NOW)],
  ];
}

test.each(DATABASES.filter(([name]) => NAMES.includes(name)))(
  `questions to ${ENTRIES} entries in ${STREAMS} streams on %s`,
  async (name, start) => {
    const place = await start();
    const say = (text: string) => process.stdout.write(`${name}: ${text}\n`);
    try {
      const made = await place.create();
      const { database } = made;
      const { migrateAll } = await import('../../src/platform/migrations.ts');
      await migrateAll(database);
      await fill(database, ENTRIES);
      const before = await bytesOf(made);
      const began = performance.now();
      await index(database);
      const rate = (ENTRIES * 1000) / (performance.now() - began);
      const after = await bytesOf(made);
      if (database.dialect === 'postgres') await sql.raw('VACUUM ANALYZE').execute(database.forMigrations);
      say(
        `${(before / ENTRIES).toFixed(0)} bytes per entry, and ${((after - before) / ENTRIES).toFixed(0)} of index; indexed ${rate.toFixed(0)}/s`,
      );
      const slow: string[] = [];
      for (const [question, most, ask] of questionsOf(database)) {
        const times: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const from = performance.now();
          await ask(round);
          times.push(performance.now() - from);
        }
        const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
        say(`${question}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
        if (p50 > most * SLOWNESS) slow.push(question);
      }
      say(`appends without index: ${await appendRate(database, false)}`);
      say(`appends with index: ${await appendRate(database, true)}`);
      expect(slow).toEqual([]);
    } finally {
      await place.close();
    }
  },
  3_600_000,
);
