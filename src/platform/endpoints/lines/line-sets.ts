import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Selectable, sql } from 'kysely';
import { sha256 } from '../../../core/digest.ts';
import { type EndpointLine, pathBytes } from '../../../sensor/report/line.ts';
import { InTheWay, type Reader, type StoredRow, type Transaction } from '../../database/database.ts';
import { kindsOf } from '../../database/table.ts';
import { ENDPOINT_TABLES, type EndpointTables } from '../tables.ts';

/**
 * Mask of the CRC-32 of a line after which a chunk ends: every 256 lines on average, and at the same lines in every
 * set.
 */
const END_MASK = 0xff;
/** Maximum size of a chunk, which bounds lines chosen so that no chunk ends. */
const MOST_LINES = 2048;
const MOST_CHARACTERS = 2 ** 20;

/** Part of the lines of a set, as stored. */
export interface LineChunk {
  /** Hex digest of the texts of the lines. */
  sha256: string;
  first_path: Uint8Array;
  last_path: Uint8Array;
  lines: Uint8Array;
}

/**
 * Splits the lines of a set into content-defined chunks: sets that differ in a few lines share all but a few chunks.
 */
export class Chunking {
  #texts: string[] = [];
  #characters = 0;

  /** @param text RFC 8785 text of a line. @returns a chunk if one ends with this line; else null. */
  add(text: string): LineChunk | null {
    this.#texts.push(text);
    this.#characters += text.length;
    const isFull = this.#texts.length >= MOST_LINES || this.#characters >= MOST_CHARACTERS;
    return isFull || (crc32(text) & END_MASK) === 0 ? this.end() : null;
  }

  /** Returns the chunk of the lines since the last chunk. */
  end(): LineChunk | null {
    const texts = this.#texts;
    const [first, last] = [texts[0], texts.at(-1)];
    if (first === undefined || last === undefined) return null;
    this.#texts = [];
    this.#characters = 0;
    const paths = { first_path: pathOfText(first), last_path: pathOfText(last) };
    const bytes = linesToBytes(texts);
    return { sha256: sha256(bytes), ...paths, lines: packLines(bytes) };
  }
}

/** Returns the bytes of the path in a line. */
export function pathOfText(text: string): Buffer {
  return pathBytes(JSON.parse(text) as EndpointLine);
}

/** Returns the texts of lines, each followed by a line feed, which RFC 8785 escapes inside strings. */
export function linesToBytes(texts: readonly string[]): Buffer {
  return Buffer.from(texts.length === 0 ? '' : `${texts.join('\n')}\n`);
}

/** Compresses lines. Pledging the size takes a fifth of the time, because zstd then prepares less for a chunk. */
export function packLines(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, { pledgedSrcSize: bytes.length });
}

/** Returns the texts of the lines in the bytes. */
function toTexts(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

/** Returns the texts of the lines of a chunk. */
export function textsOf({ lines }: Pick<LineChunk, 'lines'>): string[] {
  return toTexts(zstdDecompressSync(lines));
}

type LineSet = Selectable<EndpointTables['line_sets']>;

/** All lines of a set, to be stored. */
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

/** Stores a set, parts of which may already exist. @returns the number of the set. */
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
  // Sorted, so that two transactions cannot deadlock.
  const others = chunks
    .filter(({ sha256 }) => !known.has(sha256))
    .toSorted((one, other) => (one.sha256 < other.sha256 ? -1 : 1));
  if (others.length === 0) return known;
  try {
    await transaction.insertAll('line_chunks', CHUNK_COLUMNS, others as unknown as StoredRow[]);
  } catch (error) {
    // Error unique_violation of PostgreSQL. SQLite has a single writer, which has already read the chunks.
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

/** Returns the chunks of a set, in the order of their lines. */
export async function chunksOfSet(reader: Reader, setNo: number): Promise<number[]> {
  const places = reader.tables<EndpointTables>().selectFrom('line_set_chunks').select('chunk_no');
  const rows = await places.where('set_no', '=', setNo).orderBy('number').execute();
  return rows.map(({ chunk_no }) => chunk_no);
}

/** Returns the texts of a chunk's lines. */
async function textsOfChunk(reader: Reader, chunkNo: number): Promise<string[]> {
  const chunks = reader.tables<EndpointTables>().selectFrom('line_chunks').select('lines');
  return textsOf(await chunks.where('chunk_no', '=', chunkNo).executeTakeFirstOrThrow());
}

/** Yields the lines of chunks, loading one chunk at a time. */
export async function* linesInChunks(reader: Reader, chunkNos: readonly number[]): AsyncGenerator<EndpointLine> {
  for (const chunkNo of chunkNos)
    for (const text of await textsOfChunk(reader, chunkNo)) yield JSON.parse(text) as EndpointLine;
}

/** Counts the endpoints with a path in their active baseline. Reads only the chunks whose range includes the path. */
export async function endpointsWithPath(reader: Reader, path: Buffer): Promise<number> {
  const tables = reader.tables<EndpointTables>();
  const chunks = tables.selectFrom('line_chunks').select('chunk_no').where('first_path', '<=', path);
  const near = await chunks.where('last_path', '>=', path).execute();
  const having: number[] = [];
  for (const { chunk_no } of near) if (await hasPath(reader, chunk_no, path)) having.push(chunk_no);
  if (having.length === 0) return 0;
  const { count } = await tables
    .selectFrom('endpoints')
    .innerJoin('baselines', 'baselines.baseline_no', 'endpoints.baseline_no')
    .innerJoin('line_set_chunks', 'line_set_chunks.set_no', 'baselines.set_no')
    .where('chunk_no', 'in', having)
    .select(sql<number>`COUNT(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function hasPath(reader: Reader, chunkNo: number, path: Buffer): Promise<boolean> {
  const texts = await textsOfChunk(reader, chunkNo);
  return texts.some((text) => pathBytes(JSON.parse(text) as EndpointLine).equals(path));
}
