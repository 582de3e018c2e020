import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { serveAct } from '../../web/acts.ts';
import { paramsOf } from '../../web/asked.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { postForm } from '../../web/fields.ts';
import { eventParamsSchema, type WireEvent } from '../requests/events.ts';
import { titleOf } from './event-title.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_EVENTS, endpointsApi, eventPath } from './paths.ts';

type EventAct = 'acknowledge' | 'reopen';

const ACTS: Record<EventAct, { submit: string; introduction: string; done: string }> = {
  acknowledge: {
    submit: 'Acknowledge',
    introduction: 'It says that somebody has seen it. The event stays until its path is as the baseline has it again.',
    done: 'The event is acknowledged.',
  },
  reopen: {
    submit: 'Open again',
    introduction: 'It is open again, and as bad as it was.',
    done: 'The event is open again.',
  },
};

/** Pages for the acts on an event. */
export function eventActPages(server: FastifyInstance, { service: { events } }: EndpointPageParts): void {
  for (const act of ['acknowledge', 'reopen'] as const)
    serveAct(server, {
      path: `/endpoints/events/:event_id/${act}`,
      access: CHANGES_ENDPOINTS,
      params: eventParamsSchema,
      async view(request) {
        const event = await events.find(idOf(request));
        const back = eventPath(event.event_id);
        const { submit, introduction } = ACTS[act];
        const above = [...ABOVE_EVENTS, { title: titleOf(event), path: back }];
        return { title: submit, above, introduction, submit, isFinal: false, back };
      },
      async act(request) {
        const { event_id } = await events[act](actorOf(principalOf(request)), idOf(request));
        return { notice: ACTS[act].done, next: eventPath(event_id) };
      },
    });
}

/** On the page of an event: what can be done with it as it stands. */
export function eventActs(
  { event_id, status }: WireEvent,
  asked: { request: FastifyRequest; reply: FastifyReply },
): Markup | null {
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

function idOf(request: FastifyRequest): string {
  return paramsOf<{ event_id: string }>(request).event_id;
}
