import { messageOf } from '../../../core/errors.ts';
import type { AuditLog } from '../../audit/api.ts';
import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import { type AgentEntry, writeEntries } from '../entries.ts';

/**
 * Appends entries, and goes on without those whose stream takes none: an agent is stopped all the same.
 * @returns why, for those that were not appended.
 */
export async function recordIfPossible(
  log: Pick<AuditLog, 'appendAllIn'>,
  transaction: Transaction,
  entries: readonly AgentEntry[],
): Promise<string[]> {
  try {
    await writeEntries(log, transaction, entries);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (entries.length === 1) return [messageOf(error)];
  }
  const refused: string[] = [];
  for (const entry of entries) refused.push(...(await recordIfPossible(log, transaction, [entry])));
  return refused;
}
