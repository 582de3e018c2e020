import type { FastifyInstance } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { postForm } from '../../web/fields.ts';
import type { AskedForm } from '../../web/forms.ts';
import { eventOperations } from '../operations/events.ts';
import type { WireEvent } from '../wire/events.ts';
import { titleOf } from './event-title.ts';
import type { EndpointPageParts } from './parts.ts';
import { ABOVE_EVENTS, ENDPOINTS_API, endpointsApi, eventPath } from './paths.ts';

type EventAct = 'acknowledge' | 'reopen';

const ACTS: Record<EventAct, { submit: string; introduction: string; done: string }> = {
  acknowledge: {
    submit: 'Acknowledge',
    introduction:
      'This records that you have seen the event. The event remains until its path matches the baseline again.',
    done: 'The event is acknowledged.',
  },
  reopen: {
    submit: 'Reopen',
    introduction: 'The event opens again, with its original severity.',
    done: 'The event is reopened.',
  },
};

export function eventActPages(server: FastifyInstance, { service }: EndpointPageParts): void {
  const { acknowledgeEndpointEvent: acknowledge, reopenEndpointEvent: reopen } = eventOperations(service);
  for (const [act, operation] of Object.entries({ acknowledge, reopen })) {
    const { done, ...words } = ACTS[act as EventAct];
    serveOperationAct(server, operation, {
      path: `/endpoints/events/:event_id/${act}`,
      api: ENDPOINTS_API,
      subject: ({ event_id }) => service.events.find(event_id),
      view(event) {
        const back = eventPath(event.event_id);
        const above = [...ABOVE_EVENTS, { title: titleOf(event), path: back }];
        return { ...words, title: words.submit, above, back };
      },
      notice: () => done,
    });
  }
}

/** Renders the acts that the status of an event allows; null if there are none. */
export function eventActs({ event_id, status }: WireEvent, asked: Omit<AskedForm, 'form'>): Markup | null {
  const acts: EventAct[] = {
    open: ['acknowledge' as const],
    quieted: ['acknowledge' as const, 'reopen' as const],
    acknowledged: ['reopen' as const],
    resolved: [],
  }[status];
  const [first] = acts;
  if (first === undefined) return null;
  const form = (act: EventAct) => {
    const words = ACTS[act].submit;
    const submit = act === first ? words : markup`<button class="quiet">${words}</button>`;
    return postForm(asked, { action: eventPath(event_id, act), fields: null, submit });
  };
  const call = { method: 'POST', path: endpointsApi('events', event_id, first) } as const;
  return markup`<div class="forms">
${acts.map(form)}</div>
${asCurl('curl-act', curlCommand(asked.request, call))}`;
}
