import { sha256 } from '../../core/digest.ts';
import type { Alert, AlertContent, AlertedService } from '../alerts/api.ts';
import { EVENT_SEVERITIES } from './enums.ts';
import { type NewEndpointEvent, noteEventsChanged } from './event-rows.ts';
import type { EndpointEvents } from './events.ts';
import type { EndpointTables } from './tables.ts';
import type { WireEvent } from './wire/events.ts';

/** Events of one alert, all raised by the same report. */
export interface AlertedEvents {
  kind: 'endpoint.changed' | 'endpoint.chain' | 'endpoint.bait' | 'endpoint.stale';
  endpointId: string;
  events: readonly NewEndpointEvent[];
}

/** Returns the most severe event, which represents the alert. */
export function worstEvent(events: readonly NewEndpointEvent[]): NewEndpointEvent | undefined {
  const order = ({ severity }: NewEndpointEvent) => EVENT_SEVERITIES.indexOf(severity);
  return events.toSorted((one, other) => order(other) - order(one))[0];
}

/** Returns the alert of events. Equal changes on many endpoints alert once an hour. */
export function alertOfEvents({ kind, endpointId, events }: AlertedEvents, worst: NewEndpointEvent): Alert {
  const { severity, event_id, event_type } = worst;
  const changes = [...new Set(events.map(({ change_no }) => change_no))].toSorted();
  return {
    source: 'endpoints',
    kind,
    severity,
    subject_id: event_id,
    flood_key: endpointId,
    group_key:
      kind === 'endpoint.changed'
        ? sha256(JSON.stringify(changes))
        : [endpointId, event_type, worst.path ?? []].flat().join(' '),
    level: EVENT_SEVERITIES.indexOf(severity),
  };
}

/** Describes events to the alert service, and records the state of their alerts. */
export function alertedEndpoints(events: Pick<EndpointEvents, 'find' | 'countAlerted'>): AlertedService {
  return {
    source: 'endpoints',
    describe: async ({ subject_id }) =>
      contentOfEvent(await events.find(subject_id), await events.countAlerted(subject_id)),
    async noteAlert(transaction, eventId, readStanding) {
      const { state } = await readStanding();
      const all = transaction.tables<EndpointTables>().updateTable('endpoint_events').set({ alert_state: state });
      await all.where('alerted_by', '=', eventId).execute();
      await noteEventsChanged(transaction);
    },
  };
}

/** @param events number of events in this alert. */
function contentOfEvent(event: WireEvent, events: number): AlertContent {
  const { event_id, event_type, endpoint_name, path, explanation } = event;
  return {
    subject: `${event_type} on ${endpoint_name}${path === null ? '' : `: ${path}`}`,
    sentence: sentenceOf(event),
    facts: [
      ['Endpoint', endpoint_name],
      ['What', event_type],
      ['Severity', event.severity],
      ['Path', path ?? event.path_base64],
      ['Expected', event.expected_sha256],
      ['Found', event.observed_sha256],
      ['Explained by', explanation.kind === 'none' ? null : explanation.kind],
      ['First seen', event.first_seen],
      ['Other events in this report', events > 1 ? String(events - 1) : null],
    ],
    path: `/app/endpoints/events/${encodeURIComponent(event_id)}`,
    data: { ...event, expected: null, observed: null, events },
  };
}

function sentenceOf({ event_type, path, path_base64 }: WireEvent): string {
  if (event_type === 'stale') return STALE;
  if (event_type === 'bait_missing' || event_type === 'bait_changed') return BAIT;
  return path === null && path_base64 === null ? CHAIN : CHANGED;
}

const BAIT = 'Somebody moved, replaced or changed bait on an endpoint.';
const STALE = 'An endpoint has not reported for three intervals, so its state is unknown.';
const CHAIN = 'Something is wrong with the reports of an endpoint.';
const CHANGED = 'A file on an endpoint differs from its baseline.';
