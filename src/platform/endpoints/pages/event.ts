import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { alertWord, severityWord } from '../../alerts/api.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay } from '../../web/asked.ts';
import { factList, link, moment } from '../../web/components.ts';
import { entryPlace } from '../../web/entry-place.ts';
import { section } from '../../web/sections.ts';
import { eventOperations } from '../operations/events.ts';
import type { WireEvent } from '../wire/events.ts';
import { eventActs } from './event-acts.ts';
import { isOfReports, titleOf } from './event-title.ts';
import { explanationSentences } from './explanation.ts';
import { EVENT_WORDS, eventStatusWord } from './labels.ts';
import type { EndpointPageParts } from './parts.ts';
import { ABOVE_EVENTS, baselinePath, changePath, ENDPOINTS_API, hostPath, windowPath } from './paths.ts';
import { shownPath } from './shown-path.ts';
import { sidesTable } from './sides.ts';

/** Serves the page of an event: the expected, the observed, and the explanation. */
export function eventPage(server: FastifyInstance, { service, people, clock }: EndpointPageParts): void {
  serveOperationPage(server, eventOperations(service).getEndpointEvent, {
    path: '/endpoints/events/:event_id',
    api: ENDPOINTS_API,
    async view(event, { request, reply }) {
      const nameActor = await namesOfActors(people, [event.acknowledged_by]);
      return {
        title: titleOf(event),
        above: ABOVE_EVENTS,
        introduction: EVENT_WORDS[event.event_type].sentence,
        content: [
          facts(event, nameActor, clock(), request),
          forWhoMay(request, 'endpoints:write', () => eventActs(event, { request, reply })),
          section('Expected and observed', sidesTable(event)),
        ],
      };
    },
  });
}

function statusFact(event: WireEvent, call: NameActor, now: Date): Markup {
  const { status, acknowledged_by: by, acknowledged_at: at, resolved_at } = event;
  const seen = by === null || at === null ? null : markup` by ${name(call(by))}, ${moment(at, now)}`;
  const end = resolved_at === null ? null : markup`, ${moment(resolved_at, now)}`;
  return markup`${eventStatusWord(status)}${status === 'resolved' ? end : seen}`;
}

function facts(event: WireEvent, call: NameActor, now: Date, request: FastifyRequest): Markup {
  const { endpoint_id, endpoint_name, change_id, window_id, baseline_id } = event;
  const isOfPath = !isOfReports(event);
  return factList([
    ['Status', statusFact(event, call, now)],
    ['Severity', severityWord(event.severity)],
    ['Endpoint', link(hostPath(endpoint_id), endpoint_name)],
    isOfPath ? ['Path', shownPath(event)] : null,
    isOfPath ? ['Explanation', explanationSentences(event)] : null,
    ['Times seen', grouped(event.occurrences)],
    ['First seen', moment(event.first_seen, now)],
    ['Last seen', moment(event.last_seen, now)],
    baseline_id === null ? null : ['Compared with', link(baselinePath(baseline_id), 'the baseline at the time')],
    change_id === null ? null : ['Elsewhere', link(changePath(change_id), 'The same change on other endpoints')],
    window_id === null ? null : ['Quieted by', link(windowPath(window_id), 'a change window')],
    ['Alert', alertWord(event.alert)],
    ['Recorded as', entryPlace(event.entry, request)],
  ]);
}
