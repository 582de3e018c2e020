import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';
import type { Added } from './repository.ts';
import type { AuditTables } from './tables.ts';

/** The hour that a time is in, as far as both have it: `2026-10-01T09`. */
export function hourOf(timestamp: string): string {
  return timestamp.slice(0, 13);
}

/** Counts new entries by stream and hour. Their streams are this transaction's. */
export async function countByHour(transaction: Transaction, added: readonly Added[]): Promise<void> {
  if (added.length === 0) return;
  const counts = new Map<string, { hour: string; stream_no: number; entries: number }>();
  for (const { row, head } of added) {
    const hour = hourOf(row.timestamp);
    const stream_no = head.streamNo ?? 0;
    const counted = counts.get(`${stream_no} ${hour}`) ?? { hour, stream_no, entries: 0 };
    counts.set(`${stream_no} ${hour}`, { ...counted, entries: counted.entries + 1 });
  }
  await transaction
    .tables<AuditTables>()
    .insertInto('entry_hours')
    .values([...counts.values()])
    .onConflict((conflict) =>
      conflict.columns(['hour', 'stream_no']).doUpdateSet(({ ref }) => ({
        entries: sql<number>`${ref('entry_hours.entries')} + ${ref('excluded.entries')}`,
      })),
    )
    .execute();
}
