import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { PathName } from '../../sensor/report/line.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { kindsOf } from '../database/table.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';

export type EndpointEvent = Selectable<EndpointTables['endpoint_events']>;
export type NewEndpointEvent = Omit<EndpointEvent, 'event_no'>;

/** Unresolved event, with the columns that reports need. */
export type UnresolvedEvent = Pick<
  EndpointEvent,
  'event_id' | 'event_type' | 'severity' | 'status' | 'path' | 'path_base64' | 'expected'
> & { change_key: string | null };

const { event_no: _, ...COLUMNS } = kindsOf(ENDPOINT_TABLES.endpoint_events);

export function insertEvents(transaction: Transaction, events: readonly NewEndpointEvent[]): Promise<void> {
  return transaction.insertAll('endpoint_events', COLUMNS, events);
}

/** Returns the unresolved events of an endpoint. @param of events about its reports only, or all. */
export async function unresolvedEvents(
  reader: Reader,
  endpointNo: number,
  of: 'reports' | 'all',
): Promise<UnresolvedEvent[]> {
  const events = reader
    .tables<EndpointTables>()
    .selectFrom('endpoint_events')
    .leftJoin('endpoint_changes', 'endpoint_changes.change_no', 'endpoint_events.change_no')
    .select(['event_id', 'event_type', 'severity', 'status', 'path', 'path_base64', 'expected', 'change_key'])
    .where('endpoint_no', '=', endpointNo)
    .where('resolved_at', 'is', null);
  return (of === 'all' ? events : events.where('endpoint_events.change_no', 'is', null)).execute();
}

/** Returns the query for events with the ids of their endpoints, in order. */
export function eventsWithEndpoints(reader: Reader) {
  return reader
    .tables<EndpointTables>()
    .selectFrom('endpoint_events')
    .innerJoin('endpoints', 'endpoints.endpoint_no', 'endpoint_events.endpoint_no')
    .select(['event_id', 'endpoint_id'])
    .orderBy('event_no');
}

/** Records that the events with these ids were seen again. */
export async function noteSeen(transaction: Transaction, eventIds: readonly string[], now: string): Promise<void> {
  if (eventIds.length === 0) return;
  await seenAt(transaction, now).where(transaction.sql.isAmong('event_id', eventIds)).execute();
}

/** Records that all unresolved path events of an endpoint were seen again. @returns their number. */
export async function noteAllSeen(transaction: Transaction, endpointNo: number, now: string): Promise<number> {
  const seen = seenAt(transaction, now)
    .where('endpoint_no', '=', endpointNo)
    .where('resolved_at', 'is', null)
    .where('change_no', 'is not', null);
  return Number((await seen.executeTakeFirstOrThrow()).numUpdatedRows);
}

function seenAt(transaction: Transaction, last_seen: string) {
  const events = transaction.tables<EndpointTables>().updateTable('endpoint_events');
  return events.set({ last_seen, occurrences: sql<number>`occurrences + 1` });
}

export async function noteResolved(transaction: Transaction, eventIds: readonly string[], now: string): Promise<void> {
  if (eventIds.length === 0) return;
  const events = transaction.tables<EndpointTables>().updateTable('endpoint_events');
  await events
    .set({ status: 'resolved', resolved_at: now })
    .where(transaction.sql.isAmong('event_id', eventIds))
    .execute();
}

/** Advances the version of the list of events, so that its readers notice the change. */
export async function noteEventsChanged(transaction: Transaction): Promise<void> {
  const versions = transaction.tables<EndpointTables>().updateTable('endpoint_event_versions');
  await versions.set({ version: sql<number>`version + 1` }).execute();
}

/** Returns a number that grows with each change of any event. */
export async function eventsVersion(reader: Reader): Promise<number> {
  const versions = reader.tables<EndpointTables>().selectFrom('endpoint_event_versions').select('version');
  return (await versions.executeTakeFirstOrThrow()).version;
}

/** Change that was seen on some endpoint. */
export type KnownChange = Pick<
  Selectable<EndpointTables['endpoint_changes']>,
  'change_no' | 'change_id' | 'approved_at'
>;

/** Returns changes by their keys; new ones are stored. */
export async function storeChanges(
  transaction: Transaction,
  keys: readonly string[],
  now: string,
): Promise<Map<string, KnownChange>> {
  const known = await knownChanges(transaction, keys);
  // Sorted, so that two transactions cannot deadlock.
  const others = [...new Set(keys)].filter((key) => !known.has(key)).toSorted();
  if (others.length === 0) return known;
  for (const change_key of others)
    await transaction
      .tables<EndpointTables>()
      .insertInto('endpoint_changes')
      .values({ change_id: randomUUID(), change_key, first_seen: now })
      .onConflict((conflict) => conflict.column('change_key').doNothing())
      .execute();
  return knownChanges(transaction, keys);
}

async function knownChanges(reader: Reader, keys: readonly string[]): Promise<Map<string, KnownChange>> {
  if (keys.length === 0) return new Map();
  const rows = await reader
    .tables<EndpointTables>()
    .selectFrom('endpoint_changes')
    .select(['change_key', 'change_no', 'change_id', 'approved_at'])
    .where(reader.sql.isAmong('change_key', keys))
    .execute();
  return new Map(rows.map(({ change_key, ...change }) => [change_key, change]));
}

/** Returns a key that identifies a path in a map. */
export function pathKey({ path, path_base64 }: PathName | Pick<UnresolvedEvent, 'path' | 'path_base64'>): string {
  return path === undefined || path === null ? `base64:${path_base64}` : path;
}
