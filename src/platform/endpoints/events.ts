import { sql } from 'kysely';
import { canonicalize } from '../../core/json/canonical.ts';
import type { EndpointLine } from '../../sensor/report/line.ts';
import { placeToWire } from '../audit/api.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, there } from '../errors.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { rowChanger } from '../rows.ts';
import type { EndpointDeps } from './deps.ts';
import { type EventChange, recordEndpointAct, statedOf } from './entries.ts';
import { streamOf } from './enums.ts';
import { type EndpointEvent, eventsVersion, noteEventsChanged } from './event-rows.ts';
import { endpointRow } from './host-rows.ts';
import type { PathDifference } from './lines/comparing.ts';
import { explainDifferences, UNEXPLAINED } from './new-events.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';
import type { EventQuery, Explanation, WireEvent } from './wire/events.ts';

/** Maximum number of events that are explained again in one transaction. */
const EXPLAINED_AT_ONCE = 500;

type EventDeps = Pick<EndpointDeps, 'database' | 'clock' | 'log'>;

/** Events on endpoints, for routes and pages. */
export class EndpointEvents {
  readonly #deps: EventDeps;

  constructor(deps: EventDeps) {
    this.#deps = deps;
  }

  /** Returns a number that grows with each change of any event. */
  currentVersion(): Promise<number> {
    return eventsVersion(this.#deps.database);
  }

  /** Lists events, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, since, from, to, ...equal }: EventQuery) {
    let events = joined(this.#deps.database);
    for (const name of ['endpoint_id', 'event_type', 'severity', 'path', 'change_id', 'window_id'] as const) {
      const value = equal[name];
      if (value !== undefined) events = events.where(name, '=', value);
    }
    if (equal.status !== undefined) events = events.where('endpoint_events.status', '=', equal.status);
    if (since !== undefined) events = events.where('last_seen', '>=', since);
    if (from !== undefined) events = events.where('endpoint_events.first_seen', '>=', from);
    if (to !== undefined) events = events.where('endpoint_events.first_seen', '<', to);
    const numbered = { list: 'events', table: 'endpoint_events', number: 'event_no' } as const;
    const { page, next_cursor } = await newestFirst(events, numbered, { limit, cursor });
    return { data: page.map((row) => eventToWire(row)), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(eventId: string): Promise<WireEvent> {
    return eventToWire(await findEvent(this.#deps.database, eventId));
  }

  /** Returns the number of events that one alert reported. */
  async countAlerted(eventId: string): Promise<number> {
    const events = this.#deps.database.tables<EndpointTables>().selectFrom('endpoint_events');
    const told = events.where('alerted_by', '=', eventId).select(sql<number>`COUNT(*)`.as('count'));
    return Number((await told.executeTakeFirstOrThrow()).count);
  }

  /** Acknowledges an event, which stays until it is resolved. @throws DomainError `not_found`, `conflict`. */
  acknowledge(actor: Actor, eventId: string): Promise<WireEvent> {
    return this.#change(actor, eventId, 'event.acknowledged', ({ status }, now) => {
      if (status === 'resolved') throw new DomainError('conflict', 'the event is already resolved');
      if (status === 'acknowledged') return null;
      return { status: 'acknowledged', acknowledged_by: actor.name, acknowledged_at: now };
    });
  }

  /** Reopens an event that was acknowledged or quieted. @throws DomainError `not_found`, `conflict`. */
  reopen(actor: Actor, eventId: string): Promise<WireEvent> {
    return this.#change(actor, eventId, 'event.reopened', ({ status, explanation, plain_severity }) => {
      if (status === 'resolved')
        throw new DomainError(
          'conflict',
          'the event is resolved; if the difference appears again, it raises a new event',
        );
      if (status === 'open') return null;
      const { kind } = JSON.parse(explanation) as Explanation;
      const unexplained = { explanation: canonicalize(UNEXPLAINED), severity: plain_severity };
      const opened = { status: 'open', acknowledged_by: null, acknowledged_at: null } as const;
      return { ...opened, ...(kind === 'approved_change' ? unexplained : {}) };
    });
  }

  /** Explains unexplained events by the packages known now. @returns the number of explained events. */
  async explainAgain(): Promise<number> {
    let [explained, after] = [0, 0];
    for (;;) {
      const [count, last] = await this.#explainSome(after);
      explained += count;
      if (last === null) return explained;
      after = last;
    }
  }

  /** @returns the number of explained events, and the number of the last examined event. */
  #explainSome(after: number): Promise<[number, number | null]> {
    return this.#deps.database.write(async (transaction) => {
      const events = transaction.tables<EndpointTables>().selectFrom('endpoint_events').selectAll();
      const unresolved = events.where('resolved_at', 'is', null).where('change_no', 'is not', null);
      const unexplained = unresolved.where('explanation', '=', canonicalize(UNEXPLAINED)).where('event_no', '>', after);
      const rows = await unexplained.orderBy('event_no').limit(EXPLAINED_AT_ONCE).execute();
      const explanations = await explainDifferences(transaction, rows.map(differenceOf));
      const explained = rows
        .map((row, at) => ({ row, explanation: explanations[at] ?? UNEXPLAINED }))
        .filter(({ explanation }) => explanation.kind !== 'none');
      for (const { row, explanation } of explained)
        await changeEvent(transaction, row, { explanation: canonicalize(explanation), severity: 'low' });
      await this.#recordExplained(transaction, explained);
      return [explained.length, rows.at(-1)?.event_no ?? null];
    });
  }

  async #recordExplained(
    transaction: Transaction,
    explained: readonly { row: EndpointEvent; explanation: Explanation }[],
  ): Promise<void> {
    if (explained.length === 0) return;
    await noteEventsChanged(transaction);
    const byEndpoint = Map.groupBy(explained, ({ row }) => row.endpoint_no);
    for (const [endpointNo, some] of [...byEndpoint].toSorted(([one], [other]) => one - other)) {
      const { endpoint_id } = await endpointRow(transaction, endpointNo);
      const events = some.map(({ row: { event_id, path }, explanation }) => {
        return { event_id, path, explanation, severity: 'low' };
      });
      const act = { action: 'events.explained', of: ['endpoint', endpoint_id] as const, more: { events } };
      await recordEndpointAct(transaction, this.#deps.log, endpoint_id, { actor: { name: 'platform' }, ...act });
    }
  }

  async #change(
    actor: Actor,
    eventId: string,
    action: string,
    changeOf: (event: EndpointEvent, now: string) => EventChange | null,
  ): Promise<WireEvent> {
    const { database, clock, log } = this.#deps;
    await database.write(async (transaction) => {
      const { endpoint_no } = await findEvent(transaction, eventId);
      const { endpoint_id } = await endpointRow(transaction, endpoint_no);
      const event = await findEvent(transaction, eventId);
      const change = changeOf(event, clock().toISOString());
      if (change === null) return;
      await changeEvent(transaction, event, change);
      await noteEventsChanged(transaction);
      const more = { ...pick(event, ['event_type', 'path']), ...statedOf(change) };
      await recordEndpointAct(transaction, log, endpoint_id, { actor, action, of: ['event', eventId], more });
    });
    return this.find(eventId);
  }
}

export const changeEvent = rowChanger(ENDPOINT_TABLES, 'endpoint_events', 'event_no');

async function findEvent(reader: Reader, eventId: string): Promise<JoinedEvent> {
  return there(await joined(reader).where('event_id', '=', eventId).executeTakeFirst(), 'no event has this ID');
}

function joined(reader: Reader) {
  return reader
    .tables<EndpointTables>()
    .selectFrom('endpoint_events')
    .innerJoin('endpoints', 'endpoints.endpoint_no', 'endpoint_events.endpoint_no')
    .leftJoin('endpoint_scans', 'endpoint_scans.scan_no', 'endpoint_events.scan_no')
    .leftJoin('baselines', 'baselines.baseline_no', 'endpoint_events.baseline_no')
    .leftJoin('endpoint_changes', 'endpoint_changes.change_no', 'endpoint_events.change_no')
    .leftJoin('change_windows', 'change_windows.window_no', 'endpoint_events.window_no')
    .selectAll('endpoint_events')
    .select(['endpoint_id', 'endpoints.name as endpoint_name', 'scan_id', 'baseline_id', 'change_id', 'window_id']);
}

type JoinedEvent = Awaited<ReturnType<ReturnType<typeof joined>['executeTakeFirstOrThrow']>>;

/** Returns the two sides of a path event. */
function sidesOf({ expected, observed }: Pick<EndpointEvent, 'expected' | 'observed'>) {
  const [before, after] = [expected, observed].map((text) => (text === null ? null : JSON.parse(text)));
  return { expected: before as EndpointLine | null, observed: after as EndpointLine | null };
}

function differenceOf(row: EndpointEvent): PathDifference {
  const path = row.path === null ? { path_base64: row.path_base64 ?? '' } : { path: row.path };
  return { path, ...sidesOf(row) };
}

function eventToWire(row: JoinedEvent): WireEvent {
  const { entry_sequence, entry_hash } = row;
  return {
    ...pick(row, ['event_id', 'endpoint_id', 'endpoint_name', 'scan_id', 'baseline_id', 'change_id', 'window_id']),
    ...pick(row, ['event_type', 'severity', 'path', 'path_base64', 'expected_sha256', 'observed_sha256', 'status']),
    ...pick(row, ['occurrences', 'first_seen', 'last_seen', 'resolved_at', 'acknowledged_by', 'acknowledged_at']),
    ...(sidesOf(row) as unknown as Pick<WireEvent, 'expected' | 'observed'>),
    explanation: JSON.parse(row.explanation) as Explanation,
    alert: row.alert_state,
    entry: placeToWire(streamOf(row.endpoint_id), { entry_sequence, entry_hash }),
  };
}
