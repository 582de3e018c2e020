import type { Database, Reader } from '../database/database.ts';
import { settledNumber } from '../database/numbering.ts';
import type { AuditTables } from './tables.ts';
import { addTerms } from './terms.ts';

/** Number of successive numbers `recorded` in a block, which is searched as a whole. */
export const BLOCK = 32;

/** Number of blocks in a zone, which one transaction adds to the index: few, because other writers wait meanwhile. */
const ZONE_BLOCKS = 16;

/** Number of successive numbers `recorded` in a zone. */
export const ZONE = ZONE_BLOCKS * BLOCK;

/** Maximum number of terms of a block; a block with more is found by every term. */
const MOST_TERMS = 100_000;

/** Zone with entries: their times, and the terms by which its blocks are found. */
export interface EntryZone {
  zone: number;
  first_at: string;
  last_at: string;
  blocks: { block: number; terms: Uint32Array | null }[];
}

/** Returns the block of a number `recorded`. */
export function blockOf(recorded: number): number {
  return Math.floor(recorded / BLOCK);
}

export function zoneOf(recorded: number): number {
  return Math.floor(recorded / ZONE);
}

/** Returns the last zone of the index, and the last number `recorded`; -1 if there is none. */
export async function lastPlaces(reader: Reader): Promise<{ zone: number; recorded: number }> {
  const tables = reader.tables<AuditTables>();
  const zones = tables.selectFrom('entry_zones').select('zone').orderBy('zone', 'desc').limit(1);
  const entries = tables.selectFrom('entries').select('recorded').orderBy('recorded', 'desc').limit(1);
  const [zone, entry] = [await zones.executeTakeFirst(), await entries.executeTakeFirst()];
  return { zone: zone?.zone ?? -1, recorded: entry?.recorded ?? -1 };
}

/** Returns the next zone for the index, if no entry will be added to it any more. */
export async function nextZone(database: Reader): Promise<number | null> {
  const settled = await settledNumber(database, 'entries', 'recorded');
  const { zone, recorded } = await lastPlaces(database);
  // The last zone with an entry may still get others.
  const complete = Math.min(zoneOf(recorded) - 1, zoneOf(settled + 1) - 1);
  if (complete <= zone) return null;
  const entries = database.tables<AuditTables>().selectFrom('entries').select('recorded');
  const next = entries
    .where('recorded', '>=', (zone + 1) * ZONE)
    .orderBy('recorded')
    .limit(1);
  const first = zoneOf((await next.executeTakeFirstOrThrow()).recorded);
  return first > complete ? null : first;
}

/** Reads a zone that has entries, with its terms. Blocks without entries are left out. */
export async function readZone(reader: Reader, zone: number): Promise<EntryZone> {
  const blocks: EntryZone['blocks'] = [];
  const times: string[] = [];
  for (let block = zone * ZONE_BLOCKS; block < (zone + 1) * ZONE_BLOCKS; block++) {
    const rows = await reader
      .tables<AuditTables>()
      .selectFrom('entries')
      .select(['stream_no', 'timestamp', 'actor', 'action', 'resource_type', 'resource_id', 'metadata'])
      .where('recorded', '>=', block * BLOCK)
      .where('recorded', '<', (block + 1) * BLOCK)
      .execute();
    const terms = new Set<number>();
    for (const row of rows) {
      times.push(row.timestamp);
      if (terms.size <= MOST_TERMS) addTerms(terms, row);
    }
    if (rows.length > 0) blocks.push({ block, terms: terms.size > MOST_TERMS ? null : Uint32Array.from(terms) });
  }
  times.sort();
  return { zone, first_at: times[0] ?? '', last_at: times.at(-1) ?? '', blocks };
}

/** Adds a zone to the index, or nothing if another process has added it. */
export async function addZone(database: Database, { blocks, ...row }: EntryZone): Promise<void> {
  await database.write(async (transaction) => {
    const tables = transaction.tables<AuditTables>();
    const added = tables.insertInto('entry_zones').values(row);
    const once = added.onConflict((conflict) => conflict.column('zone').doNothing());
    const { numInsertedOrUpdatedRows: made } = await once.executeTakeFirstOrThrow();
    if (made !== 1n) return;
    for (const { block, terms } of blocks)
      await transaction.sql.postings.add('entry_terms', block, terms).execute(tables);
  });
}

interface Search {
  /** Groups of terms: a block has a term of each. */
  groups: readonly (readonly number[])[];
  from?: string | undefined;
  to?: string | undefined;
  direction: 'asc' | 'desc';
  /** First block to search, in this direction. */
  start: number;
}

interface Blocks {
  from: number;
  to: number;
}

/**
 * Returns blocks that may contain entries with these terms and times, in order, up to `limit`. Blocks after the index
 * always may.
 */
export async function findBlocks(reader: Reader, search: Search, limit: number): Promise<number[]> {
  const { direction, start } = search;
  const { zone, recorded } = await lastPlaces(reader);
  const [indexed, last] = [(zone + 1) * ZONE_BLOCKS - 1, blockOf(recorded)];
  const isUp = direction === 'asc';
  const range = isUp ? { from: start, to: last } : { from: 0, to: Math.min(start, last) };
  const outside = inOrder({ from: Math.max(range.from, indexed + 1), to: range.to }, direction, limit);
  const inside =
    isUp || outside.length < limit
      ? await findIndexed(reader, search, { from: range.from, to: Math.min(range.to, indexed) }, limit)
      : [];
  return (isUp ? [...inside, ...outside] : [...outside, ...inside]).slice(0, limit);
}

/** Returns the first numbers of a range in a direction. */
function inOrder({ from, to }: Blocks, direction: 'asc' | 'desc', limit: number): number[] {
  const length = Math.max(0, Math.min(limit, to - from + 1));
  return Array.from({ length }, (_, at) => (direction === 'asc' ? from + at : to - at));
}

async function findIndexed(reader: Reader, search: Search, all: Blocks, limit: number): Promise<number[]> {
  const { groups, direction } = search;
  const range = await rangeOfPeriod(reader, search, all);
  if (range === null || range.from > range.to) return [];
  if (groups.length === 0) return inOrder(range, direction, limit);
  const query = reader.sql.postings.find('entry_terms', groups, { ...range, direction, limit });
  const { rows } = await query.execute(reader.tables());
  return rows.map(({ block }) => block);
}

/** Returns the part of a range that may contain entries of a period. */
async function rangeOfPeriod(reader: Reader, { from, to }: Search, all: Blocks): Promise<Blocks | null> {
  if (from === undefined && to === undefined) return all;
  let zones = reader.tables<AuditTables>().selectFrom('entry_zones');
  if (from !== undefined) zones = zones.where('last_at', '>=', from);
  if (to !== undefined) zones = zones.where('first_at', '<', to);
  const ends = zones.select(({ fn }) => [fn.min<number | null>('zone').as('first'), fn.max('zone').as('last')]);
  const { first, last } = await ends.executeTakeFirstOrThrow();
  if (first === null) return null;
  return {
    from: Math.max(all.from, first * ZONE_BLOCKS),
    to: Math.min(all.to, (Number(last) + 1) * ZONE_BLOCKS - 1),
  };
}
