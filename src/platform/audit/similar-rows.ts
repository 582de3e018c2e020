import { hash } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { plainId } from './enums.ts';
import type { AuditTables } from './tables.ts';

/** Returns the hex digest that streams share whose ids look alike. */
export function likenessOf(streamId: string): string {
  return hash('sha256', plainId(streamId), 'hex');
}

/** Returns the ids of existing streams by their likeness, which is one of these. */
export async function similarStreams(
  transaction: Transaction,
  likenesses: readonly string[],
): Promise<Map<string, string>> {
  if (likenesses.length === 0) return new Map();
  const streams = transaction.tables<AuditTables>().selectFrom('streams').select(['stream_id', 'likeness']);
  const rows = streams.where(transaction.sql.isAmong('likeness', likenesses));
  return new Map((await rows.execute()).map(({ stream_id, likeness }) => [likeness, stream_id]));
}
