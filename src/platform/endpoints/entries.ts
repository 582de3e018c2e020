import { canonicalize, type Json } from '../../core/json/canonical.ts';
import type { AuditLog, EntryPlace, OwnEntry } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import type { Actor } from '../http/principal.ts';
import { CHANGES_STREAM, streamOf } from './enums.ts';
import type { EndpointEvent } from './event-rows.ts';

/** Event on an endpoint, or act on it. */
export interface EndpointAct {
  action: string;
  of: readonly [type: 'endpoint' | 'report' | 'baseline' | 'bait' | 'event' | 'change' | 'change_window', id: string];
  more: { [name: string]: Json };
}

export function entryOfAct(actor: Pick<Actor, 'name'>, { action, of: [type, id], more }: EndpointAct): OwnEntry {
  return { actor: actor.name, action, resource_type: type, resource_id: id, metadata: more };
}

/** Change to the assessment of an event. */
export type EventChange = Partial<
  Pick<EndpointEvent, 'status' | 'severity' | 'explanation' | 'acknowledged_by' | 'acknowledged_at'>
>;

/** Returns the change to events that a person approves. @param id of the change, or of the change window. */
export function approvedChange({ name }: Pick<Actor, 'name'>, id: string, now: string) {
  const explanation = canonicalize({ kind: 'approved_change', id });
  const acknowledged = { status: 'acknowledged', acknowledged_by: name, acknowledged_at: now } as const;
  return { ...acknowledged, severity: 'low', explanation } as const satisfies EventChange;
}

/** Returns the members of a change in the form of its entry. */
export function statedOf({ explanation, ...change }: EventChange): { [name: string]: Json } {
  return explanation === undefined ? change : { ...change, explanation: JSON.parse(explanation) as Json };
}

/** Returns the entries of a decision about events on many endpoints: in its own stream, and in one per endpoint. */
export function decidedEntries(
  actor: Pick<Actor, 'name'>,
  { reason, ...act }: Omit<EndpointAct, 'more'> & { reason: string },
  events: readonly { event_id: string; endpoint_id: string }[],
  change: EventChange,
): (OwnEntry & { streamId: string })[] {
  const decided = inEntries(events).map((some) => ({
    streamId: CHANGES_STREAM,
    ...entryOfAct(actor, { ...act, more: { reason, events: some } }),
  }));
  const byEndpoint = [...Map.groupBy(events, ({ endpoint_id }) => endpoint_id)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const ofEndpoints = byEndpoint.flatMap(([endpointId, own]) =>
    inEntries(own).map((some) => ({
      streamId: streamOf(endpointId),
      ...entryOfAct(actor, {
        action: 'events.decided',
        of: ['endpoint', endpointId],
        more: { events: some.map(({ event_id }) => ({ event_id, ...statedOf(change) })) },
      }),
    })),
  );
  return [...decided, ...ofEndpoints];
}

/** Returns the name of an endpoint's sensor in entries. */
export function endpointActor(endpointId: string): Pick<Actor, 'name'> {
  return { name: `endpoint:${endpointId}` };
}

/** Entries that a transaction adds to the stream of an endpoint. They are written last: see `appendIn`. */
export class EndpointEntries {
  readonly #endpointId: string;
  readonly #entries: OwnEntry[] = [];

  constructor(endpointId: string) {
    this.#endpointId = endpointId;
  }

  /** @returns the index of the entry in the result of `write`. */
  add(actor: Pick<Actor, 'name'>, act: EndpointAct): number {
    return this.#entries.push(entryOfAct(actor, act)) - 1;
  }

  write(log: Pick<AuditLog, 'appendIn'>, transaction: Transaction): Promise<EntryPlace[]> {
    return log.appendIn(transaction, streamOf(this.#endpointId), this.#entries);
  }
}

/** Adds an entry to the stream of an endpoint. Call this last in a transaction: see `appendIn`. */
export async function recordEndpointAct(
  transaction: Transaction,
  log: Pick<AuditLog, 'appendIn'>,
  endpointId: string,
  { actor, ...act }: EndpointAct & { actor: Pick<Actor, 'name'> },
): Promise<void> {
  await log.appendIn(transaction, streamOf(endpointId), [entryOfAct(actor, act)]);
}

/** Maximum number of events in one entry. */
const EVENTS_IN_ENTRY = 100;

/** Splits events into groups, one per entry; without events, returns one empty group. */
export function inEntries<T>(events: readonly T[]): T[][] {
  return Array.from({ length: Math.max(1, Math.ceil(events.length / EVENTS_IN_ENTRY)) }, (_, at) =>
    events.slice(at * EVENTS_IN_ENTRY, (at + 1) * EVENTS_IN_ENTRY),
  );
}
