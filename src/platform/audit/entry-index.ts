import type { Database, Reader } from '../database/database.ts';
import { settledNumber } from '../database/numbering.ts';
import type { AuditTables } from './tables.ts';
import { addTerms } from './terms.ts';

/** Number of successive numbers `recorded` in a block, which is searched as a whole. */
export const BLOCK = 32;

/** Number of blocks that one transaction adds, because other writers wait meanwhile. */
const BLOCKS_AT_ONCE = 32;

/** Maximum number of terms of a block; a block with more is found by every term. */
const MOST_TERMS = 100_000;

/** Block of entries with the terms by which it is found. */
export interface EntryBlock {
  block: number;
  first_at: string;
  last_at: string;
  terms: Uint32Array | null;
}

/** Returns the block of a number `recorded`. */
export function blockOf(recorded: number): number {
  return Math.floor(recorded / BLOCK);
}

/** Returns the last block of the index, and the last block with an entry; -1 if there is none. */
export async function lastBlocks(reader: Reader): Promise<{ indexed: number; recorded: number }> {
  const tables = reader.tables<AuditTables>();
  const blocks = tables.selectFrom('entry_blocks').select('block').orderBy('block', 'desc').limit(1);
  const entries = tables.selectFrom('entries').select('recorded').orderBy('recorded', 'desc').limit(1);
  const [block, entry] = [await blocks.executeTakeFirst(), await entries.executeTakeFirst()];
  return { indexed: block?.block ?? -1, recorded: entry === undefined ? -1 : blockOf(entry.recorded) };
}

/** Returns the blocks that can be added to the index, at most a few: no entry will be added to them any more. */
export async function nextBlocks(database: Reader): Promise<{ first: number; last: number } | null> {
  const settled = await settledNumber(database, 'entries', 'recorded');
  const { indexed, recorded } = await lastBlocks(database);
  // The last block with an entry may still get others.
  const complete = Math.min(recorded - 1, blockOf(settled + 1) - 1);
  if (complete <= indexed) return null;
  const entries = database.tables<AuditTables>().selectFrom('entries').select('recorded');
  const next = entries
    .where('recorded', '>=', (indexed + 1) * BLOCK)
    .orderBy('recorded')
    .limit(1);
  const first = blockOf((await next.executeTakeFirstOrThrow()).recorded);
  return first > complete ? null : { first, last: Math.min(complete, first + BLOCKS_AT_ONCE - 1) };
}

/** Reads blocks with their terms. Blocks without entries are left out. */
export async function readBlocks(reader: Reader, { first, last }: { first: number; last: number }) {
  const blocks: EntryBlock[] = [];
  for (let block = first; block <= last; block++) {
    const read = await readBlock(reader, block);
    if (read !== null) blocks.push(read);
  }
  return blocks;
}

async function readBlock(reader: Reader, block: number): Promise<EntryBlock | null> {
  const rows = await reader
    .tables<AuditTables>()
    .selectFrom('entries')
    .select(['stream_no', 'timestamp', 'actor', 'action', 'resource_type', 'resource_id', 'metadata'])
    .where('recorded', '>=', block * BLOCK)
    .where('recorded', '<', (block + 1) * BLOCK)
    .execute();
  const times = rows.map(({ timestamp }) => timestamp).sort();
  const [first_at, last_at] = [times[0], times.at(-1)];
  if (first_at === undefined || last_at === undefined) return null;
  const terms = new Set<number>();
  for (const row of rows) if (terms.size <= MOST_TERMS) addTerms(terms, row);
  return { block, first_at, last_at, terms: terms.size > MOST_TERMS ? null : Uint32Array.from(terms) };
}

/** Adds a block to the index with its terms, or nothing if another process has added it. */
export async function addBlocks(database: Database, blocks: readonly EntryBlock[]): Promise<void> {
  await database.write(async (transaction) => {
    const tables = transaction.tables<AuditTables>();
    for (const { terms, ...row } of blocks) {
      const added = tables.insertInto('entry_blocks').values(row);
      const once = added.onConflict((conflict) => conflict.column('block').doNothing());
      const { numInsertedOrUpdatedRows: made } = await once.executeTakeFirstOrThrow();
      if (made === 1n) await transaction.sql.postings.add('entry_terms', row.block, terms).execute(tables);
    }
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

/**
 * Returns blocks that may contain entries with these terms and times, in order, up to `limit`. Blocks after the index
 * always may.
 */
export async function findBlocks(reader: Reader, search: Search, limit: number): Promise<number[]> {
  const { direction, start } = search;
  const { indexed, recorded } = await lastBlocks(reader);
  const isUp = direction === 'asc';
  const outside: number[] = [];
  const [low, high] = isUp ? [Math.max(start, indexed + 1), recorded] : [indexed + 1, Math.min(start, recorded)];
  for (let at = 0; at <= high - low && at < limit; at++) outside.push(isUp ? low + at : high - at);
  const ends = isUp ? { from: start, to: indexed } : { from: 0, to: Math.min(start, indexed) };
  const inside = isUp || outside.length < limit ? await findIndexed(reader, search, { ...ends, limit }) : [];
  return (isUp ? [...inside, ...outside] : [...outside, ...inside]).slice(0, limit);
}

async function findIndexed(
  reader: Reader,
  { groups, from, to, direction }: Search,
  ends: { from: number; to: number; limit: number },
): Promise<number[]> {
  let blocks = reader.tables<AuditTables>().selectFrom('entry_blocks');
  blocks = blocks.where('block', '>=', ends.from).where('block', '<=', ends.to);
  if (from !== undefined) blocks = blocks.where('last_at', '>=', from);
  if (to !== undefined) blocks = blocks.where('first_at', '<', to);
  if (groups.length === 0) {
    const rows = await blocks.select('block').orderBy('block', direction).limit(ends.limit).execute();
    return rows.map(({ block }) => block);
  }
  let { from: low, to: high } = ends;
  if (from !== undefined || to !== undefined) {
    const range = blocks.select(({ fn }) => [fn.min<number | null>('block').as('low'), fn.max('block').as('high')]);
    const found = await range.executeTakeFirstOrThrow();
    if (found.low === null) return [];
    [low, high] = [found.low, Number(found.high)];
  }
  const range = { from: low, to: high, direction, limit: ends.limit };
  const found = await reader.sql.postings.find('entry_terms', groups, range).execute(reader.tables());
  return found.rows.map(({ block }) => block);
}
