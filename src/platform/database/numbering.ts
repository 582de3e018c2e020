import { sql } from 'kysely';
import type { Numbering, Reader, Transaction } from './database.ts';

/** First 16 bits of the keys of advisory locks with which transactions announce numbers. */
const PREFIX = 0x4e55;
const BITS = 48;

/** Transactions of PostgreSQL commit in another order than that of their numbers. */
export const POSTGRES_NUMBERING: Numbering = {
  announce: (table, column) =>
    sql`SELECT pg_advisory_xact_lock_shared((${PREFIX}::bigint << ${sql.lit(BITS)}) + last_value)
      FROM ${sql.table(sequenceOf(table, column))}`,
  last: (table, column) => sql`SELECT last_value AS number FROM ${sql.table(sequenceOf(table, column))}`,
  // A lock shows its key as two halves of 32 bits.
  lowestPending: sql`SELECT min(((classid::bigint & 65535) << 32) + objid::bigint) AS number FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND classid::bigint >> 16 = ${PREFIX}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
};

function sequenceOf(table: string, column: string): string {
  return `${table}_${column}_seq`;
}

/** Announces that a transaction assigns numbers. Call this before its first row with a number. */
export async function announceNumbers(transaction: Transaction, table: string, column: string): Promise<void> {
  await transaction.sql.numbering?.announce(table, column).execute(transaction.tables());
}

/**
 * Returns a number up to which no row will be committed any more: a list that went through these rows in ascending
 * order missed none. Infinite if transactions commit in the order of their numbers.
 * @param reader whose statements see what was committed before each; not a snapshot.
 */
export async function settledNumber(reader: Reader, table: string, column: string): Promise<number> {
  const { numbering } = reader.sql;
  if (numbering === null) return Number.POSITIVE_INFINITY;
  // In this order: a transaction that announces itself after the first statement assigns numbers above `last`.
  const last = await numbering.last(table, column).execute(reader.tables());
  const pending = await numbering.lowestPending.execute(reader.tables());
  const lowest = pending.rows[0]?.number ?? null;
  return Math.min(last.rows[0]?.number ?? 0, lowest === null ? Number.POSITIVE_INFINITY : lowest - 1);
}
