import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { EndpointService } from '../service.ts';
import { eventParamsSchema, eventQuerySchema, eventSchema } from '../wire/events.ts';

const EVENTS = operationGroup('endpoints', 'events');

export function eventOperations({ events }: EndpointService) {
  const act = (name: 'acknowledge' | 'reopen', summary: string) =>
    EVENTS.post(`/events/:event_id/${name}`, {
      summary,
      params: eventParamsSchema,
      answer: eventSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => events[name](actor, params.event_id),
    });
  return {
    listEndpointEvents: EVENTS.get('/events/', {
      summary: 'List events on endpoints, newest first',
      query: eventQuerySchema,
      version: () => events.currentVersion(),
      answer: pageSchema(eventSchema),
      work: ({ query }) => events.list(query),
    }),
    getEndpointEvent: EVENTS.get('/events/:event_id', {
      summary: 'Get an event: what was expected and observed, and the explanation',
      params: eventParamsSchema,
      answer: eventSchema,
      refusals: [404],
      work: ({ params }) => events.find(params.event_id),
    }),
    acknowledgeEndpointEvent: act('acknowledge', 'Acknowledge an event, which remains until it is resolved'),
    reopenEndpointEvent: act('reopen', 'Reopen an acknowledged or quieted event'),
  };
}
