import type { Selectable } from 'kysely';
import type { Reader } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { EndpointTables } from './tables.ts';

export type ChangeWindow = Selectable<EndpointTables['change_windows']>;

/** The change window that an endpoint is in, the one that was opened first; null where it is in none. */
export async function windowFor(reader: Reader, endpointNo: number, now: string): Promise<number | null> {
  const row = await reader
    .tables<EndpointTables>()
    .selectFrom('change_windows')
    .select('window_no')
    .where('until_at', '>', now)
    .where('from_at', '<=', now)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('is_for_all', '=', 1),
        exists(
          selectFrom('change_window_endpoints')
            .select('endpoint_no')
            .where('endpoint_no', '=', endpointNo)
            .whereRef('change_window_endpoints.window_no', '=', 'change_windows.window_no'),
        ),
      ]),
    )
    .orderBy('window_no')
    .executeTakeFirst();
  return row?.window_no ?? null;
}

/** A change window, which is this transaction's until it ends. @throws DomainError `not_found`. */
export async function findWindow(reader: Reader, windowId: string): Promise<ChangeWindow> {
  const windows = reader.tables<EndpointTables>().selectFrom('change_windows').selectAll();
  const row = await windows.where('window_id', '=', windowId).modifyEnd(reader.sql.locked).executeTakeFirst();
  if (row === undefined) throw new DomainError('not_found', 'there is no change window of this id');
  return row;
}
