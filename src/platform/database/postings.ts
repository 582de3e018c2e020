import { type RawBuilder, sql } from 'kysely';

/** Range of blocks of an index, and the order and number of those to find. */
export interface BlockRange {
  from: number;
  to: number;
  direction: 'asc' | 'desc';
  limit: number;
}

/**
 * Index from terms, which are unsigned 32-bit numbers, to the blocks of rows that contain them. A block that is added
 * without terms is found by all of them.
 */
export interface Postings {
  /** @param terms null for a block with too many terms. */
  add(table: string, block: number, terms: Uint32Array | null): RawBuilder<unknown>;
  /** Finds the blocks with a term of each group. */
  find(table: string, groups: readonly (readonly number[])[], range: BlockRange): RawBuilder<{ block: number }>;
}

/** Token of a block with too many terms; a term in base 36 is shorter. */
const EVERYTHING = 'everything';

/** Full-text index of SQLite, whose words are terms in base 36: https://sqlite.org/fts5.html */
export const SQLITE_POSTINGS: Postings = {
  add(table, block, terms) {
    const words = terms === null ? EVERYTHING : Array.from(terms, toWord).join(' ');
    return sql`INSERT INTO ${sql.table(table)} (rowid, terms) VALUES (CAST(${block} AS integer), ${words})`;
  },
  find(table, groups, { from, to, direction, limit }) {
    const all = groups.map((group) => `(${group.map((term) => `"${toWord(term)}"`).join(' OR ')})`);
    const expression = `(${all.join(' AND ')}) OR "${EVERYTHING}"`;
    // The driver binds numbers as floating point, by which the index cannot seek.
    return sql`SELECT rowid AS block FROM ${sql.table(table)} WHERE ${sql.table(table)} MATCH ${expression}
      AND rowid BETWEEN CAST(${from} AS integer) AND CAST(${to} AS integer) ORDER BY rowid ${sql.raw(direction)} LIMIT ${limit}`;
  },
};

/**
 * Number of successive blocks in a section of PostgreSQL's index. That index cannot sort, so that it must find all
 * blocks with a term before the nearest are known: sections are searched one by one.
 */
const SECTION = 2048;

/** Numbers of sections that are searched before all others. */
const FIRST_SECTIONS = [1, 16];

/** Number of terms of a section, which follow those of the section before. */
const TERMS = 2 ** 32;

/** Inverted index of PostgreSQL. Term 0 is in blocks with too many terms. */
export const POSTGRES_POSTINGS: Postings = {
  add(table, block, terms) {
    const section = Math.floor(block / SECTION);
    const all = Array.from(terms ?? [0], (term) => section * TERMS + term);
    return sql`INSERT INTO ${sql.table(table)} (block, terms) VALUES (${block}, ${all}::bigint[])`;
  },
  find(table, groups, { from, to, direction, limit }) {
    const inSection = (terms: readonly number[]) =>
      sql`ARRAY[${sql.join(terms.map((term) => sql`section * ${sql.lit(TERMS)} + ${term}::bigint`))}]`;
    const one = groups.flatMap((group) => (group.length === 1 ? group : []));
    const conditions = [
      ...(one.length === 0 ? [] : [sql`terms @> ${inSection(one)}`]),
      ...groups.filter((group) => group.length > 1).map((group) => sql`terms && ${inSection(group)}`),
    ];
    const inRange = sql`block BETWEEN ${from} AND ${to}`;
    const steps = stepsOf(from, to, direction);
    const queries = steps.map((sections, step) => {
      const isFound = sql`(${sql.join(conditions, sql` AND `)}) OR terms @> ${inSection([0])}`;
      const isWanted =
        step === 0 ? sql`` : sql`WHERE (SELECT count(*) FROM ${foundBy(step)} WHERE ${inRange}) < ${limit}`;
      return sql`${stepName(step)} AS MATERIALIZED (SELECT found.block FROM unnest(${sections}::bigint[]) AS section,
        LATERAL (SELECT block FROM ${sql.table(table)} WHERE ${isFound}) AS found ${isWanted})`;
    });
    return sql`WITH ${sql.join(queries)} SELECT block FROM ${foundBy(steps.length)}
      WHERE ${inRange} ORDER BY block ${sql.raw(direction)} LIMIT ${limit}`;
  },
};

/** Returns the sections of a range of blocks in the order in which they are searched. */
function stepsOf(from: number, to: number, direction: 'asc' | 'desc'): number[][] {
  const [low, high] = [Math.floor(from / SECTION), Math.floor(to / SECTION)];
  const sections = Array.from({ length: high - low + 1 }, (_, at) => (direction === 'asc' ? low + at : high - at));
  const steps = FIRST_SECTIONS.map((length) => sections.splice(0, length));
  return [...steps, sections].filter((step) => step.length > 0);
}

function toWord(term: number): string {
  return term.toString(36);
}

function stepName(step: number): RawBuilder<unknown> {
  return sql.ref(`step_${step}`);
}

/** Returns a table of the blocks that the first steps find. */
function foundBy(steps: number): RawBuilder<unknown> {
  const found = Array.from({ length: steps }, (_, step) => sql`SELECT block FROM ${stepName(step)}`);
  return sql`(${sql.join(found, sql` UNION ALL `)}) AS found`;
}
