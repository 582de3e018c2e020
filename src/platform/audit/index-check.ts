import type { Reader } from '../database/database.ts';
import type { RowFinding } from '../open-module.ts';
import { type EntryZone, lastPlaces, readZone, zoneOf } from './entry-index.ts';
import type { AuditTables } from './tables.ts';

/** Maximum number of terms of one query. */
const TERMS = 200;

/**
 * Compares the index of lists with the entries, from which it follows. Terms that no entry has are not found: they hide
 * nothing.
 * @throws the reason of `signal`.
 */
export async function* checkIndex(reader: Reader, signal: AbortSignal): AsyncGenerator<RowFinding> {
  const { zone: last, recorded } = await lastPlaces(reader);
  for (let zone = 0; zone <= Math.min(last, zoneOf(recorded)); zone++) {
    const due = await readZone(reader, zone);
    if (!(await isIndexed(reader, due))) yield { code: 'index_mismatch', of: `zone ${zone} of the index of lists` };
    signal.throwIfAborted();
  }
  if (last > zoneOf(recorded)) yield { code: 'index_mismatch', of: `zone ${last} of the index of lists` };
}

async function isIndexed(reader: Reader, { zone, first_at, last_at, blocks }: EntryZone): Promise<boolean> {
  const zones = reader.tables<AuditTables>().selectFrom('entry_zones').selectAll();
  const row = await zones.where('zone', '=', zone).executeTakeFirst();
  if (blocks.length === 0) return row === undefined;
  if (row?.first_at !== first_at || row.last_at !== last_at) return false;
  for (const { block, terms } of blocks) if (!(await hasTerms(reader, block, terms))) return false;
  return true;
}

/** @param terms null for a block with too many terms, which is found by each. */
async function hasTerms(reader: Reader, block: number, terms: Uint32Array | null): Promise<boolean> {
  const all = Array.from(terms ?? [0]);
  const range = { from: block, to: block, direction: 'asc', limit: 1 } as const;
  for (let at = 0; at < all.length; at += TERMS) {
    const groups = all.slice(at, at + TERMS).map((term) => [term]);
    const found = await reader.sql.postings.find('entry_terms', groups, range).execute(reader.tables());
    if (found.rows.length === 0) return false;
  }
  return true;
}
