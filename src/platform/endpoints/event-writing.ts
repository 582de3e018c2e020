import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { type EntryPlace, keptPlace } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import type { Actor } from '../http/principal.ts';
import { type AlertedEvents, alertOfEvents, worstEvent } from './alerting.ts';
import type { EndpointDeps } from './deps.ts';
import { EndpointEntries, inEntries } from './entries.ts';
import type { BaitEventType, ChainEventType, EventSeverity } from './enums.ts';
import {
  insertEvents,
  type NewEndpointEvent,
  noteAllSeen,
  noteEventsChanged,
  noteResolved,
  noteSeen,
  pathKey,
  storeChanges,
  type UnresolvedEvent,
  unresolvedEvents,
} from './event-rows.ts';
import type { Endpoint } from './host-rows.ts';
import type { PathDifference } from './lines/comparing.ts';
import { changeKeyOf } from './lines/comparing.ts';
import { eventOfDifference, explainDifferences, joinChange, newEvent, toMetadata, UNEXPLAINED } from './new-events.ts';
import { windowFor } from './windows.ts';

/** Scan that events refer to. */
interface ComparedScan {
  scan_no: number;
  baseline_no: number;
  /** True if a missing line means a removed file. */
  isComplete: boolean;
}

/** Finding about an endpoint's reports, or about bait on it. */
interface ChainFault {
  type: ChainEventType | BaitEventType;
  /** Path of the bait. */
  path?: string;
  severity: EventSeverity;
  expected: { [name: string]: Json };
  observed: { [name: string]: Json };
}

interface NewEvent {
  event: NewEndpointEvent;
  changeKey: string | null;
}

/** Changes that one transaction makes to the events of an endpoint, whose lock it holds. */
export class EventWriting {
  readonly #transaction: Transaction;
  readonly #deps: EndpointDeps;
  readonly #endpoint: Endpoint;
  readonly #now: string;
  readonly #unresolved: UnresolvedEvent[];
  readonly #raised: NewEvent[] = [];
  readonly #seen: string[] = [];
  readonly #resolved: { event: UnresolvedEvent; why: string }[] = [];
  #areAllSeen = false;
  /** Further entries of the same transaction. */
  readonly entries: EndpointEntries;

  /** @param of events that the changes may affect. */
  static async begin(
    transaction: Transaction,
    deps: EndpointDeps,
    endpoint: Endpoint,
    of: 'reports' | 'all',
  ): Promise<EventWriting> {
    const unresolved = await unresolvedEvents(transaction, endpoint.endpoint_no, of);
    return new EventWriting(transaction, deps, endpoint, unresolved);
  }

  private constructor(transaction: Transaction, deps: EndpointDeps, endpoint: Endpoint, unresolved: UnresolvedEvent[]) {
    this.#transaction = transaction;
    this.#deps = deps;
    this.#endpoint = endpoint;
    this.#unresolved = unresolved;
    this.#now = deps.clock().toISOString();
    this.entries = new EndpointEntries(endpoint.endpoint_id);
  }

  get counts(): { raised: number; resolved: number } {
    return { raised: this.#raised.length, resolved: this.#resolved.length };
  }

  /** Raises an event about the endpoint's reports, or records that it was seen again. */
  raiseOfReports({ type, path: place, severity, expected, observed }: ChainFault): void {
    const path = place ?? null;
    const known = this.#unresolved.find(
      (event) => event.event_type === type && event.path === path && event.status === 'open',
    );
    if (known !== undefined) {
      this.#seen.push(known.event_id);
      return;
    }
    const { endpoint_no } = this.#endpoint;
    const sides = { expected: canonicalize(expected), observed: canonicalize(observed) };
    const event = {
      ...newEvent(endpoint_no, this.#now),
      ...sides,
      path,
      event_type: type,
      severity,
      plain_severity: severity,
    };
    this.#raised.push({ event, changeKey: null });
  }

  /** Resolves events of these types about the endpoint's reports. */
  resolveOfReports(types: readonly ChainEventType[], why: string): void {
    for (const event of this.#unresolved)
      if (types.some((type) => type === event.event_type)) this.#resolved.push({ event, why });
  }

  /** Resolves the events about bait at a path. */
  resolveOfBait(path: string, why: string): void {
    for (const event of this.#unresolved) if (event.path === path) this.#resolved.push({ event, why });
  }

  /** Records that nothing differs from the last comparison of paths. */
  sameAsBefore(): void {
    this.#areAllSeen = true;
  }

  /** Raises new events, records repeated ones, and resolves those whose paths match the baseline again. */
  async compare(differences: AsyncIterable<PathDifference>, scan: ComparedScan): Promise<void> {
    const byPath = this.#unresolvedByPath();
    const found: { difference: PathDifference; changeKey: string }[] = [];
    for await (const difference of differences) {
      const key = pathKey(difference.path);
      const events = byPath.get(key) ?? [];
      byPath.delete(key);
      // An incomplete scan does not show whether the file exists.
      if (difference.observed === null && !scan.isComplete) continue;
      const changeKey = changeKeyOf(difference);
      const same = events.find((event) => event.change_key === changeKey);
      for (const event of events) if (event !== same) this.#resolved.push({ event, why: 'changed again' });
      if (same === undefined) found.push({ difference, changeKey });
      else this.#seen.push(same.event_id);
    }
    for (const event of [...byPath.values()].flat())
      if (scan.isComplete || event.expected !== null) this.#resolved.push({ event, why: 'matches the baseline' });
    await this.#raiseOfPaths(found, scan);
  }

  /**
   * Writes all changes; locks the stream's head last: see `appendIn`. @returns the number of unresolved events, and the
   * places of `entries`.
   */
  async write(): Promise<{ unresolved: number; places: EntryPlace[] }> {
    const transaction = this.#transaction;
    const now = this.#now;
    const keys = this.#raised.map(({ changeKey }) => changeKey).filter((key) => key !== null);
    const changes = await storeChanges(transaction, keys, now);
    for (const { event, changeKey } of this.#raised) joinChange(event, changes.get(changeKey ?? ''));
    await noteSeen(transaction, this.#seen, now);
    await noteResolved(
      transaction,
      this.#resolved.map(({ event }) => event.event_id),
      now,
    );
    const all = this.#areAllSeen ? await noteAllSeen(transaction, this.#endpoint.endpoint_no, now) : 0;
    await this.#notify();
    if (this.#raised.length + this.#seen.length + this.#resolved.length + all > 0) await noteEventsChanged(transaction);
    const places = await this.#record();
    await insertEvents(
      transaction,
      this.#raised.map(({ event }) => event),
    );
    const ofPaths = this.#areAllSeen ? all : 0;
    const unresolved = this.#unresolved.length + ofPaths - this.#resolved.length + this.#raised.length;
    return { unresolved, places };
  }

  #unresolvedByPath(): Map<string, UnresolvedEvent[]> {
    return Map.groupBy(
      this.#unresolved.filter(({ change_key }) => change_key !== null),
      pathKey,
    );
  }

  async #raiseOfPaths(
    found: readonly { difference: PathDifference; changeKey: string }[],
    { scan_no, baseline_no }: ComparedScan,
  ): Promise<void> {
    if (found.length === 0) return;
    const differences = found.map(({ difference }) => difference);
    const explanations = await explainDifferences(this.#transaction, differences);
    const window_no = await windowFor(this.#transaction, this.#endpoint.endpoint_no, this.#now);
    const facts = { endpoint_no: this.#endpoint.endpoint_no, scan_no, baseline_no, window_no, now: this.#now };
    for (const [at, { difference, changeKey }] of found.entries())
      this.#raised.push({ event: eventOfDifference(difference, facts, explanations[at] ?? UNEXPLAINED), changeKey });
  }

  /** Sends one alert for all events of a kind that a report raised, represented by the most severe one. */
  async #notify(): Promise<void> {
    const loud = this.#raised.map(({ event }) => event).filter(({ status }) => status === 'open');
    const ofPaths = loud.filter(({ change_no }) => change_no !== null);
    const ofReports = loud.filter(({ change_no }) => change_no === null);
    for (const [kind, events] of [
      ['endpoint.changed', ofPaths],
      ['endpoint.stale', ofReports.filter(({ event_type }) => event_type === 'stale')],
      ['endpoint.bait', ofReports.filter(({ path }) => path !== null)],
      ['endpoint.chain', ofReports.filter(({ event_type, path }) => event_type !== 'stale' && path === null)],
    ] as const)
      await this.#alertOf(kind, events);
  }

  async #alertOf(kind: AlertedEvents['kind'], events: readonly NewEndpointEvent[]): Promise<void> {
    const worst = worstEvent(events);
    if (worst === undefined) return;
    const alert = alertOfEvents({ kind, endpointId: this.#endpoint.endpoint_id, events }, worst);
    const alert_state = await this.#deps.alerts.notify(this.#transaction, alert);
    for (const event of events) Object.assign(event, { alert_state, alerted_by: worst.event_id });
  }

  /** Writes the entries, and records in each event the place of its entry. */
  async #record(): Promise<EntryPlace[]> {
    const { entries } = this;
    const named = new Map<number, NewEndpointEvent[]>();
    for (const some of inEntries(this.#raised)) {
      if (some.length === 0) continue;
      const events = some.map(({ event }) => event);
      named.set(this.#name('events.raised', events.map(toMetadata)), events);
    }
    for (const some of inEntries(this.#resolved))
      if (some.length > 0)
        this.#name(
          'events.resolved',
          some.map(({ event: { event_id, event_type }, why }) => {
            const resolved_at = this.#now;
            return { event_id, event_type, why, status: 'resolved', resolved_at };
          }),
        );
    const places = await entries.write(this.#deps.log, this.#transaction);
    for (const [at, events] of named) for (const event of events) Object.assign(event, keptPlace(places[at]));
    return places;
  }

  #name(action: string, events: Json[]): number {
    const { endpoint_id } = this.#endpoint;
    const actor: Pick<Actor, 'name'> = { name: 'platform' };
    return this.entries.add(actor, { action, of: ['endpoint', endpoint_id], more: { events } });
  }
}
