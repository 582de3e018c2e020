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

/** Number of blocks that are examined without the index of PostgreSQL. */
const NEAR = 512;

/** Inverted index of PostgreSQL, whose terms are signed. Term 0 is in blocks with too many terms. */
export const POSTGRES_POSTINGS: Postings = {
  add: (table, block, terms) =>
    sql`INSERT INTO ${sql.table(table)} (block, terms) VALUES (${block}, ${signed(terms ?? [0])}::integer[])`,
  find(table, groups, { from, to, direction, limit }) {
    const one = groups.flatMap((group) => (group.length === 1 ? group : []));
    const several = groups.filter((group) => group.length > 1);
    const conditions = [
      sql`terms @> ${signed(one)}::integer[]`,
      ...several.map((group) => sql`terms && ${signed(group)}::integer[]`),
    ];
    const condition = sql.join(conditions.slice(one.length > 0 ? 0 : 1), sql` AND `);
    const [low, high] = direction === 'asc' ? [from, from + NEAR - 1] : [to - NEAR + 1, to];
    // The index cannot sort: of terms in many blocks, the nearest blocks are found without it.
    return sql`WITH near AS MATERIALIZED (SELECT block FROM (SELECT block, terms || '{}' AS terms FROM ${sql.table(table)}) AS each
        WHERE block BETWEEN ${Math.max(low, from)} AND ${Math.min(high, to)} AND (${condition} OR terms @> '{0}')
        ORDER BY block ${sql.raw(direction)} LIMIT ${limit}),
      found AS MATERIALIZED (SELECT block FROM ${sql.table(table)}
        WHERE (SELECT count(*) FROM near) < ${limit} AND (${condition} OR terms @> '{0}'))
      SELECT block FROM (SELECT block FROM found UNION SELECT block FROM near) AS blocks
      WHERE block BETWEEN ${from} AND ${to} ORDER BY block ${sql.raw(direction)} LIMIT ${limit}`;
  },
};

function toWord(term: number): string {
  return term.toString(36);
}

function signed(terms: Iterable<number>): number[] {
  return Array.from(terms, (term) => term | 0);
}
