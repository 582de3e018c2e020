import type { Selectable } from 'kysely';
import type { EndpointLine } from '../../../sensor/report/line.ts';
import { InTheWay, type Reader, type StoredRow, type Transaction } from '../../database/database.ts';
import { kindsOf } from '../../database/table.ts';
import { ENDPOINT_TABLES, type EndpointTables } from '../tables.ts';
import { type LineChunk, textsOf } from './chunks.ts';

export type LineSet = Selectable<EndpointTables['line_sets']>;

/** All lines of a set, ready to be stored. */
export interface NewLineSet {
  root_hash: string;
  line_count: number;
  chunks: readonly LineChunk[];
}

const CHUNK_COLUMNS = kindsOf(ENDPOINT_TABLES.line_chunks, ['sha256', 'first_path', 'last_path', 'lines']);
const PLACE_COLUMNS = kindsOf(ENDPOINT_TABLES.line_set_chunks, ['set_no', 'number', 'chunk_no']);

export function lineSetOf(reader: Reader, rootHash: string): Promise<LineSet | undefined> {
  const sets = reader.tables<EndpointTables>().selectFrom('line_sets').selectAll();
  return sets.where('root_hash', '=', rootHash).executeTakeFirst();
}

/** Stores a set, of which there may be parts or all already. @returns its number. */
export async function storeLineSet(
  transaction: Transaction,
  { root_hash, line_count, chunks }: NewLineSet,
): Promise<number> {
  const tables = transaction.tables<EndpointTables>();
  const made = await tables
    .insertInto('line_sets')
    .values({ root_hash, line_count })
    .onConflict((conflict) => conflict.column('root_hash').doNothing())
    .returning('set_no')
    .executeTakeFirst();
  if (made === undefined) {
    const known = await lineSetOf(transaction, root_hash);
    if (known === undefined) throw new Error('a set of lines is neither new nor there');
    return known.set_no;
  }
  const { set_no } = made;
  const numbers = await storeChunks(transaction, chunks);
  const places = chunks.map(({ sha256 }, number) => ({ set_no, number, chunk_no: numbers.get(sha256) ?? 0 }));
  await transaction.insertAll('line_set_chunks', PLACE_COLUMNS, places);
  return set_no;
}

/** @returns the numbers of chunks by their digests. */
async function storeChunks(transaction: Transaction, chunks: readonly LineChunk[]): Promise<Map<string, number>> {
  const digests = chunks.map(({ sha256 }) => sha256);
  const known = await chunkNumbers(transaction, digests);
  // In one order, so that no two wait for each other.
  const others = chunks
    .filter(({ sha256 }) => !known.has(sha256))
    .toSorted((one, other) => (one.sha256 < other.sha256 ? -1 : 1));
  if (others.length === 0) return known;
  try {
    await transaction.insertAll('line_chunks', CHUNK_COLUMNS, others as unknown as StoredRow[]);
  } catch (error) {
    // PostgreSQL's unique_violation; SQLite has one writer, who has read them.
    if ((error as { code?: string }).code !== '23505') throw error;
    throw new InTheWay('another endpoint brought the same lines', { cause: error });
  }
  return chunkNumbers(transaction, digests);
}

async function chunkNumbers(reader: Reader, digests: readonly string[]): Promise<Map<string, number>> {
  const chunks = reader.tables<EndpointTables>().selectFrom('line_chunks').select(['sha256', 'chunk_no']);
  const rows = await chunks.where(reader.sql.isAmong('sha256', digests)).execute();
  return new Map(rows.map(({ sha256, chunk_no }) => [sha256, chunk_no]));
}

/** The chunks of a set, in the order of their lines. */
export async function chunksOfSet(reader: Reader, setNo: number): Promise<number[]> {
  const places = reader.tables<EndpointTables>().selectFrom('line_set_chunks').select('chunk_no');
  const rows = await places.where('set_no', '=', setNo).orderBy('number').execute();
  return rows.map(({ chunk_no }) => chunk_no);
}

/** The texts of a chunk's lines. */
export async function textsOfChunk(reader: Reader, chunkNo: number): Promise<string[]> {
  const chunks = reader.tables<EndpointTables>().selectFrom('line_chunks').select('lines');
  return textsOf(await chunks.where('chunk_no', '=', chunkNo).executeTakeFirstOrThrow());
}

/** The lines of chunks, one chunk at a time. */
export async function* linesInChunks(reader: Reader, chunkNos: readonly number[]): AsyncGenerator<EndpointLine> {
  for (const chunkNo of chunkNos)
    for (const text of await textsOfChunk(reader, chunkNo)) yield JSON.parse(text) as EndpointLine;
}
