import { hash } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { plainId } from './enums.ts';
import type { AuditTables } from './tables.ts';

/** Returns the hex digest that streams share whose ids look alike. */
export function likenessOf(streamId: string): string {
  return hash('sha256', plainId(streamId), 'hex');
}

/** Returns the existing streams whose ids look like these, by their likeness. */
export async function similarStreams(
  transaction: Transaction,
  streamIds: readonly string[],
): Promise<Map<string, string>> {
  if (streamIds.length === 0) return new Map();
  const streams = transaction.tables<AuditTables>().selectFrom('streams').select(['stream_id', 'likeness']);
  const rows = streams.where(transaction.sql.isAmong('likeness', streamIds.map(likenessOf)));
  return new Map((await rows.execute()).map(({ stream_id, likeness }) => [likeness, stream_id]));
}
