import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { kindsOf, pick } from '../database/table.ts';
import { DomainError, invalidField } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { keyedRequest, makeIdOnce } from '../idempotency/keyed-results.ts';
import { rowChanger, rowFinder, rowInserter } from '../rows.ts';
import type { EndpointDeps } from './deps.ts';
import { approvedChange, decidedEntries, type EventChange, entryOfAct } from './entries.ts';
import { CHANGES_STREAM } from './enums.ts';
import { eventsWithEndpoints, noteEventsChanged } from './event-rows.ts';
import { findEndpoint } from './host-rows.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';
import type { NewWindow, WireWindow } from './wire/events.ts';

const LONGEST_MS = 7 * 24 * 60 * 60_000;

/** Change windows, for routes and pages. A window ends by itself. */
export class ChangeWindows {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  /**
   * Quiets changes on endpoints during a period. Events about reports are not quieted.
   * @throws DomainError `invalid_request`; `not_found` if an endpoint does not exist.
   */
  async open(actor: Actor, input: NewWindow, idempotencyKey: string | undefined): Promise<WireWindow> {
    const { clock, log } = this.#deps;
    const now = clock();
    const times = timesOf(input, now);
    const keyed = keyedRequest('endpoints/change-windows', idempotencyKey, input as Json);
    const windowId = await makeIdOnce(this.#deps, keyed, async (transaction) => {
      const window = await insertWindow(transaction, { ...times, input, by: actor.name, now });
      const { window_id, from_at: from, until_at: until, reason } = window;
      const act = { action: 'change_window.opened', of: ['change_window', window_id] } as const;
      const of = input.all === true ? { all: true } : { endpoint_ids: input.endpoint_ids ?? [] };
      const entry = entryOfAct(actor, { ...act, more: { from, until, reason, ...of } });
      await log.appendIn(transaction, CHANGES_STREAM, [entry]);
      return window_id;
    });
    return this.find(windowId);
  }

  /** Lists change windows, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor }: PageQuery) {
    const { database, clock } = this.#deps;
    const windows = database.tables<EndpointTables>().selectFrom('change_windows').selectAll();
    const numbered = { list: 'windows', table: 'change_windows', number: 'window_no' } as const;
    const { page, next_cursor } = await newestFirst(windows, numbered, { limit, cursor });
    return { data: await windowsToWire(database, page, clock()), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(windowId: string): Promise<WireWindow> {
    const { database, clock } = this.#deps;
    const [window] = await windowsToWire(database, [await findWindow(database, windowId)], clock());
    if (window === undefined) throw new Error('one change window became none');
    return window;
  }

  /** Approves the quieted events, which are then explained and less severe. @throws DomainError `not_found`. */
  approve(actor: Actor, windowId: string, { reason }: { reason: string }): Promise<WireWindow> {
    return this.#decide(actor, windowId, { action: 'change_window.approved', reason }, (now) => ({
      window: { approved_at: now, approved_by: actor.name, approved_reason: reason },
      events: approvedChange(actor, windowId, now),
    }));
  }

  /** Reopens the quieted events that are not approved. @throws DomainError `not_found`. */
  reopen(actor: Actor, windowId: string, { reason }: { reason: string }): Promise<WireWindow> {
    return this.#decide(actor, windowId, { action: 'change_window.reopened', reason }, () => ({
      window: null,
      events: { status: 'open' },
    }));
  }

  async #decide(
    actor: Actor,
    windowId: string,
    { action, reason }: { action: string; reason: string },
    changesOf: (now: string) => { window: Partial<ChangeWindow> | null; events: EventChange },
  ): Promise<WireWindow> {
    const { database, clock, log } = this.#deps;
    await database.write(async (transaction) => {
      const window = await findWindow(transaction, windowId);
      const { window_no } = window;
      const change = changesOf(clock().toISOString());
      const all = eventsWithEndpoints(transaction).where('window_no', '=', window_no);
      const quieted = await all.where('status', '=', 'quieted').execute();
      if (change.window !== null) await changeWindow(transaction, window, change.window);
      const events = transaction
        .tables<EndpointTables>()
        .updateTable('endpoint_events')
        .set(change.events)
        .where('window_no', '=', window_no);
      await events.where('status', '=', 'quieted').execute();
      if (quieted.length > 0) await noteEventsChanged(transaction);
      const act = { action, of: ['change_window', windowId], reason } as const;
      await log.appendAllIn(transaction, decidedEntries(actor, act, quieted, change.events));
    });
    return this.find(windowId);
  }
}

/** @throws DomainError `invalid_request`. */
function timesOf({ endpoint_ids, all, from, until }: NewWindow, now: Date): { from_at: string; until_at: string } {
  if ((endpoint_ids === undefined) === (all === undefined))
    throw new DomainError('invalid_request', 'specify either endpoint_ids or all');
  const from_at = from ?? now.toISOString();
  if (until <= now.toISOString()) throw invalidField('until', 'must be in the future');
  if (until <= from_at) throw invalidField('until', 'must be after from');
  // Events from the past have already alerted.
  if (from_at < new Date(now.getTime() - 60_000).toISOString()) throw invalidField('from', 'must not be in the past');
  if (Date.parse(until) - Date.parse(from_at) > LONGEST_MS)
    throw invalidField('until', 'a change window can be open for at most seven days');
  return { from_at, until_at: until };
}

const OF_WINDOWS = kindsOf(ENDPOINT_TABLES.change_window_endpoints, ['window_no', 'endpoint_no']);

async function insertWindow(
  transaction: Transaction,
  { input, by, now, from_at, until_at }: { input: NewWindow; by: string; now: Date; from_at: string; until_at: string },
): Promise<ChangeWindow> {
  const made = { window_id: randomUUID(), reason: input.reason, made_at: now.toISOString(), made_by: by };
  const row = { ...made, is_for_all: Number(input.all === true), from_at, until_at };
  const window = await addWindow(transaction, row);
  const { window_no } = window;
  const rows: { window_no: number; endpoint_no: number }[] = [];
  for (const id of new Set(input.endpoint_ids ?? []))
    rows.push({ window_no, endpoint_no: (await findEndpoint(transaction, id)).endpoint_no });
  await transaction.insertAll('change_window_endpoints', OF_WINDOWS, rows);
  return window;
}

async function windowsToWire(reader: Reader, windows: readonly ChangeWindow[], at: Date): Promise<WireWindow[]> {
  if (windows.length === 0) return [];
  const tables = reader.tables<EndpointTables>();
  const numbers = windows.map(({ window_no }) => window_no);
  const endpoints = await tables
    .selectFrom('change_window_endpoints')
    .innerJoin('endpoints', 'endpoints.endpoint_no', 'change_window_endpoints.endpoint_no')
    .select(['window_no', 'endpoint_id'])
    .where('window_no', 'in', numbers)
    .execute();
  const events = tables.selectFrom('endpoint_events').where('window_no', 'in', numbers).groupBy('window_no');
  const counts = await events.select(['window_no', sql<number>`COUNT(*)`.as('count')]).execute();
  const now = at.toISOString();
  const names = ['window_id', 'reason', 'made_at', 'made_by', 'approved_at', 'approved_by', 'approved_reason'] as const;
  return windows.map(({ window_no, is_for_all, from_at, until_at, ...window }) => ({
    ...pick(window, names),
    status: now < from_at ? 'planned' : now < until_at ? 'running' : 'ended',
    all: is_for_all === 1,
    from: from_at,
    until: until_at,
    endpoint_ids: endpoints.filter((row) => row.window_no === window_no).map(({ endpoint_id }) => endpoint_id),
    events: Number(counts.find((row) => row.window_no === window_no)?.count ?? 0),
  }));
}

type ChangeWindow = Selectable<EndpointTables['change_windows']>;

const changeWindow = rowChanger(ENDPOINT_TABLES, 'change_windows', 'window_no');
const addWindow = rowInserter(ENDPOINT_TABLES, 'change_windows');

/** Returns the current change window of an endpoint, the first one opened; null if there is none. */
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

/** Returns a change window, locked until the transaction ends. @throws DomainError `not_found`. */
const findWindow = rowFinder(ENDPOINT_TABLES, 'change_windows', 'window_id', {
  missing: 'no change window has this ID',
  isLocked: true,
});
