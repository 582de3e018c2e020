import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../database/database.ts';
import { BLOCK, blockOf, findBlocks } from './entry-index.ts';
import type { AuditTables } from './tables.ts';
import {
  FILTERS,
  hasWords,
  type MetadataMember,
  memberTerm,
  type Searched,
  termOf,
  textsOfMember,
  wordsOf,
} from './terms.ts';
import type { EntriesQuery } from './wire.ts';

/**
 * Maximum numbers of blocks that the searches of one page examine: the first finds most pages. A page that reaches the
 * last ends early.
 */
const MOST_BLOCKS = [64, 512];

/** Number of blocks that the first statement of a search examines: few, because filters may select much. */
const FIRST_BLOCKS = 2;

/** Factor by which the number grows. */
const GROWTH = 4;

/** Number of entries that one statement reads to compare their words. */
const READ_AT_ONCE = 100;

/** Place of a matching entry, and the bytes of its metadata. */
export interface FoundEntry {
  recorded: number;
  /** Number by which the list is sorted. */
  position: number;
  size: number;
}

/** Matching entries in order, one more than a page has if there are so many. */
export interface Found {
  rows: FoundEntry[];
  /** Last number `recorded` that was examined; null if the search came to its end. */
  reached: number | null;
}

/**
 * Finds entries of several streams, in the order in which they were recorded or in reverse.
 * @param after number `recorded` after which the page starts; null for the first page.
 */
export async function searchEntries(reader: Reader, query: EntriesQuery, after: number | null): Promise<Found> {
  const streams = query.stream_id === undefined ? null : await numbersOf(reader, query.stream_id);
  if (streams?.length === 0) return { rows: [], reached: null };
  const search = new Search(reader, query, streams);
  return search.find(after);
}

async function numbersOf(reader: Reader, streamIds: readonly string[]): Promise<number[]> {
  const streams = reader.tables<AuditTables>().selectFrom('streams').select('stream_no');
  const rows = await streams.where(reader.sql.isAmong('stream_id', streamIds)).execute();
  return rows.map(({ stream_no }) => stream_no);
}

type Row = FoundEntry & Searched;

class Search {
  readonly #reader: Reader;
  readonly #query: EntriesQuery;
  readonly #streams: readonly number[] | null;
  readonly #words: readonly string[];
  readonly #member: MetadataMember | null;
  readonly #isUp: boolean;

  constructor(reader: Reader, query: EntriesQuery, streams: readonly number[] | null) {
    this.#reader = reader;
    this.#query = query;
    this.#streams = streams;
    this.#words = [...wordsOf(query.q ?? '')];
    this.#member = query.metadata === undefined ? null : memberOf(query.metadata);
    this.#isUp = query.order === 'oldest';
  }

  async find(after: number | null): Promise<Found> {
    const conditions = this.#conditions();
    const wanted = this.#query.limit + 1;
    if (conditions.length === 0) return { rows: await this.#read(sql`entries`, [], after, wanted), reached: null };
    const rows: FoundEntry[] = [];
    let reached = after;
    for (const most of MOST_BLOCKS) {
      const blocks = await this.#blocks(reached, most);
      rows.push(...(await this.#examine(blocks, conditions, after, wanted - rows.length)));
      const last = blocks[most - 1];
      if (rows.length >= wanted || last === undefined) return { rows, reached: null };
      reached = this.#isUp ? (last + 1) * BLOCK - 1 : last * BLOCK;
    }
    return { rows, reached };
  }

  #blocks(after: number | null, most: number): Promise<number[]> {
    const { from, to } = this.#query;
    const first = after === null ? (this.#isUp ? 0 : Number.MAX_SAFE_INTEGER) : after + (this.#isUp ? 1 : -1);
    const search = { groups: this.#terms(), from, to, direction: this.#direction, start: blockOf(first) };
    return findBlocks(this.#reader, search, most);
  }

  /** Returns the matching entries of blocks, up to the wanted number. */
  async #examine(blocks: readonly number[], conditions: RawBuilder<unknown>[], after: number | null, wanted: number) {
    const rows: FoundEntry[] = [];
    let step = FIRST_BLOCKS;
    for (let at = 0; at < blocks.length && rows.length < wanted; at += step, step *= GROWTH) {
      // Most blocks have a matching entry.
      step = Math.min(step, wanted - rows.length);
      rows.push(...(await this.#matching(blocks.slice(at, at + step), conditions, after, wanted - rows.length)));
    }
    return rows;
  }

  #terms(): number[][] {
    return [
      ...FILTERS.flatMap((column) => {
        const value = this.#query[column];
        return value === undefined ? [] : [[termOf(column, value)]];
      }),
      ...(this.#streams === null ? [] : [this.#streams.map((number) => termOf('stream', String(number)))]),
      ...this.#words.map((word) => [termOf('word', word)]),
      ...(this.#member === null ? [] : [[memberTerm(this.#member)]]),
    ];
  }

  #conditions(): RawBuilder<unknown>[] {
    const { from, to, after_sequence } = this.#query;
    const { contains } = this.#reader.sql;
    const text = sql<string>`lower(concat(actor, ' ', action, ' ', resource_type, ' ', resource_id, ' ', metadata))`;
    const ascii = this.#words.filter((word) => /^[a-z0-9]+$/.test(word));
    const texts = this.#member === null ? [] : textsOfMember(this.#member);
    const members = texts.map((part) => contains(sql`metadata`, part));
    return [
      ...FILTERS.flatMap((column) => {
        const value = this.#query[column];
        return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
      }),
      // The plus keeps the database from choosing the index of this column instead of the blocks.
      ...(this.#streams === null ? [] : [sql`+stream_no IN (${sql.join(this.#streams.map((each) => sql.lit(each)))})`]),
      ...(from === undefined ? [] : [sql`timestamp >= ${from}`]),
      ...(to === undefined ? [] : [sql`timestamp < ${to}`]),
      ...(after_sequence === undefined ? [] : [sql`sequence > ${after_sequence}`]),
      ...(this.#member === null ? [] : [sql`(${sql.join(members, sql` OR `)})`]),
      // Words with other letters are compared here only: databases differ in lower case.
      ...(this.#words.length === 0 ? [] : [sql`1 = 1`, ...ascii.map((word) => contains(text, word))]),
    ];
  }

  /** Returns the matching entries of blocks, read by one statement unless words must be compared. */
  async #matching(blocks: readonly number[], conditions: RawBuilder<unknown>[], after: number | null, wanted: number) {
    if (this.#words.length === 0) return this.#read(sourceOf(this.#reader, blocks), conditions, after, wanted);
    const rows: FoundEntry[] = [];
    for (let [from, left] = [after, blocks]; ; ) {
      const read = await this.#read(sourceOf(this.#reader, left), conditions, from, READ_AT_ONCE);
      rows.push(...read.filter((row) => hasWords(row, this.#words)));
      const last = read.at(-1)?.recorded;
      if (rows.length >= wanted || last === undefined || read.length < READ_AT_ONCE) return rows.slice(0, wanted);
      from = last;
      left = left.slice(left.indexOf(blockOf(last)));
    }
  }

  async #read(source: RawBuilder<unknown>, conditions: RawBuilder<unknown>[], after: number | null, limit: number) {
    const texts = this.#words.length === 0 ? sql`` : sql`, actor, action, resource_type, resource_id, metadata`;
    const isAfter = sql.raw(this.#isUp ? '>' : '<');
    const all = [...conditions, ...(after === null ? [] : [sql`entries.recorded ${isAfter} ${after}`])];
    const where = all.length === 0 ? sql`` : sql`WHERE ${sql.join(all, sql` AND `)}`;
    const { rows } =
      await sql<Row>`SELECT entries.recorded, entries.recorded AS position, octet_length(metadata) AS size ${texts} FROM ${source}
      ${where} ORDER BY entries.recorded ${sql.raw(this.#direction)} LIMIT ${limit}`.execute(this.#reader.tables());
    return rows;
  }

  get #direction(): 'asc' | 'desc' {
    return this.#isUp ? 'asc' : 'desc';
  }
}

function sourceOf(reader: Reader, blocks: readonly number[]): RawBuilder<unknown> {
  const starts = blocks.map((block) => block * BLOCK);
  return reader.sql.inRanges({ table: 'entries', column: 'recorded' }, starts, BLOCK);
}

function memberOf(given: string): MetadataMember {
  const colon = given.indexOf(':');
  return { name: given.slice(0, colon), value: given.slice(colon + 1) };
}
