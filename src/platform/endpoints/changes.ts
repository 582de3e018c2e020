import { type Selectable, sql } from 'kysely';
import { pathBytes } from '../../sensor/report/line.ts';
import type { Reader } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import type { EndpointDeps } from './deps.ts';
import { approvedChange, decidedEntries } from './entries.ts';
import type { PathEventType } from './enums.ts';
import { type EndpointEvent, eventsWithEndpoints, noteEventsChanged } from './event-rows.ts';
import { endpointsWithPath } from './lines/line-sets.ts';
import type { EndpointTables } from './tables.ts';
import type { Explanation, WireChange } from './wire/events.ts';

type Change = Selectable<EndpointTables['endpoint_changes']>;

/** Equal changes on many endpoints, for routes and pages. */
export class Changes {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  /** Lists the unresolved changes, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, event_type }: PageQuery & { event_type?: PathEventType | undefined }) {
    const { database } = this.#deps;
    const changes = database
      .tables<EndpointTables>()
      .selectFrom('endpoint_changes')
      .selectAll()
      .where(({ exists, selectFrom }) => {
        const events = selectFrom('endpoint_events').select('event_no').where('resolved_at', 'is', null);
        const own = events.whereRef('endpoint_events.change_no', '=', 'endpoint_changes.change_no');
        return exists(event_type === undefined ? own : own.where('event_type', '=', event_type));
      });
    const numbered = { list: 'changes', table: 'endpoint_changes', number: 'change_no' } as const;
    const { page, next_cursor } = await newestFirst(changes, numbered, { limit, cursor });
    return { data: await changesToWire(database, page), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(changeId: string): Promise<WireChange> {
    const { database } = this.#deps;
    const changes = database.tables<EndpointTables>().selectFrom('endpoint_changes').selectAll();
    const [row] = await changes.where('change_id', '=', changeId).execute();
    const [change] = row === undefined ? [] : await changesToWire(database, [row]);
    if (change === undefined) throw notThere();
    return change;
  }

  /**
   * Approves a change on all endpoints: its events are explained and less severe, including later ones.
   * @throws DomainError `not_found`.
   */
  async approve(actor: Actor, changeId: string, { reason }: { reason: string }): Promise<WireChange> {
    const { database, clock, log } = this.#deps;
    await database.write(async (transaction) => {
      const tables = transaction.tables<EndpointTables>();
      const approved = { approved_at: clock().toISOString(), approved_by: actor.name, approved_reason: reason };
      const changes = tables.updateTable('endpoint_changes').set(approved).where('change_id', '=', changeId);
      const row = await changes.returning('change_no').executeTakeFirst();
      if (row === undefined) throw notThere();
      const all = eventsWithEndpoints(transaction).where('change_no', '=', row.change_no);
      const events = await all.where('resolved_at', 'is', null).execute();
      const change = approvedChange(actor, changeId, approved.approved_at);
      const affected = tables.updateTable('endpoint_events').set(change).where('change_no', '=', row.change_no);
      await affected.where('resolved_at', 'is', null).execute();
      await noteEventsChanged(transaction);
      const act = { action: 'change.approved', of: ['change', changeId], reason } as const;
      await log.appendAllIn(transaction, decidedEntries(actor, act, events, change));
    });
    return this.find(changeId);
  }
}

function notThere(): DomainError {
  return new DomainError('not_found', 'no change has this ID');
}

async function changesToWire(reader: Reader, changes: readonly Change[]): Promise<WireChange[]> {
  if (changes.length === 0) return [];
  const counts = await countsOf(
    reader,
    changes.map(({ change_no }) => change_no),
  );
  const shown: WireChange[] = [];
  for (const change of changes) {
    const { change_no, first_seen } = change;
    const { places, last_seen, event_no } = counts.get(change_no) ?? { places: 0, last_seen: first_seen, event_no: 0 };
    const event = await eventOf(reader, event_no);
    shown.push({
      ...pick(change, ['change_id', 'first_seen', 'approved_at', 'approved_by', 'approved_reason']),
      ...pick(event, ['event_type', 'severity', 'path', 'path_base64', 'expected_sha256', 'observed_sha256']),
      last_seen,
      places,
      of: Math.max(places, await couldHave(reader, event)),
      explanation: JSON.parse(event.explanation) as Explanation,
    });
  }
  return shown;
}

/** Returns the number of endpoints with each change, and the time of its last event. */
async function countsOf(reader: Reader, changeNos: number[]) {
  const rows = await reader
    .tables<EndpointTables>()
    .selectFrom('endpoint_events')
    .select([
      'change_no',
      sql<number>`COUNT(CASE WHEN resolved_at IS NULL THEN 1 END)`.as('places'),
      sql<string>`MAX(last_seen)`.as('last_seen'),
      sql<number>`MAX(event_no)`.as('event_no'),
    ])
    .where('change_no', 'in', changeNos)
    .groupBy('change_no')
    .execute();
  return new Map(
    rows.map((row) => [row.change_no, { ...row, places: Number(row.places), event_no: Number(row.event_no) }]),
  );
}

async function eventOf(reader: Reader, eventNo: number): Promise<EndpointEvent> {
  const events = reader.tables<EndpointTables>().selectFrom('endpoint_events').selectAll();
  return await events.where('event_no', '=', eventNo).executeTakeFirstOrThrow();
}

/** Counts the endpoints that could have a change: those whose baseline has the path, or all if the path is new. */
function couldHave(reader: Reader, { expected, path, path_base64 }: EndpointEvent): Promise<number> {
  if (expected === null) return endpointsWithBaseline(reader);
  return endpointsWithPath(reader, pathBytes(path === null ? { path_base64: path_base64 ?? '' } : { path }));
}

async function endpointsWithBaseline(reader: Reader): Promise<number> {
  const endpoints = reader.tables<EndpointTables>().selectFrom('endpoints').where('baseline_no', 'is not', null);
  const { count } = await endpoints.select(sql<number>`COUNT(*)`.as('count')).executeTakeFirstOrThrow();
  return Number(count);
}
