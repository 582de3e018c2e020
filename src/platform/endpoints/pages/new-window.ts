import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { idempotencyKey, text } from '../../http/fields.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { asCurl } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { choices, field, onceField, postForm } from '../../web/fields.ts';
import { formTime, toFormTime } from '../../web/form-time.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import { askedReason } from '../../web/reason.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import type { EndpointService } from '../service.ts';
import type { WireHost } from '../wire/hosts.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import { ABOVE_WINDOWS, endpointsApi, windowPath } from './paths.ts';

/** Endpoints that a form has to choose from: the newest. */
const MOST_CHOICES = 100;
/** In the place of an id. */
const ALL = 'all';
const HOUR_MS = 60 * 60_000;

const schema = z.object({
  once: idempotencyKey,
  endpoints: z.preprocess(
    (given) => (given === undefined ? [] : [given].flat()),
    z.array(text.max(100)).min(1, 'Choose the endpoints'),
  ),
  from: formTime,
  until: formTime.refine((at) => at !== undefined, 'Say when it ends').transform((at = '') => at),
  reason: askedReason,
});

const EXAMPLE = { all: true, until: '2026-12-01T18:00:00Z', reason: 'the upgrade of December' };

/** A new change window. */
export function newWindowPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveForm(server, {
    path: '/endpoints/change-windows/new',
    access: CHANGES_ENDPOINTS,
    schema,
    fields: { invalid_request: 'until' },
    show: async (form, request, reply) => ({
      title: 'Open a change window',
      above: ABOVE_WINDOWS,
      introduction:
        'Changes on endpoints are expected for a time. What is found meanwhile raises no alert and is listed under the window; afterwards somebody approves it or opens it. What is wrong with reports is not quieted. The window ends by itself.',
      content: [
        windowForm(await hostsToChoose(service, request), { form, request, reply }, clock()),
        asCurl(
          'curl',
          curlCommand(request, { method: 'POST', path: endpointsApi('change-windows', ''), body: EXAMPLE }),
        ),
      ],
    }),
    async act({ once, endpoints, from, until, reason: why }, request, reply) {
      const of = endpoints.includes(ALL) ? { all: true as const } : { endpoint_ids: endpoints };
      const input = { ...of, ...(from === undefined ? {} : { from }), until, reason: why };
      const { window_id } = await service.windows.open(actorOf(principalOf(request)), input, once);
      leaveNotice(reply, 'The change window is open until it ends by itself.');
      return windowPath(window_id);
    },
  });
}

interface Choosable {
  hosts: readonly Pick<WireHost, 'endpoint_id' | 'name'>[];
  /** Marks a form that was asked for. */
  chosen: string;
  /** There are others than these. */
  hasMore: boolean;
}

async function hostsToChoose({ hosts }: EndpointService, { query }: FastifyRequest): Promise<Choosable> {
  const { data, next_cursor } = await hosts.list({ limit: MOST_CHOICES });
  const { endpoint_id: asked } = query as { endpoint_id?: unknown };
  if (typeof asked !== 'string') return { hosts: data, chosen: ALL, hasMore: next_cursor !== null };
  const others = data.filter(({ endpoint_id }) => endpoint_id !== asked);
  return { hosts: [await hosts.find(asked), ...others], chosen: asked, hasMore: next_cursor !== null };
}

function windowForm(
  { hosts, chosen, hasMore }: Choosable,
  asked: { form: FormState; request: FastifyRequest; reply: FastifyReply },
  now: Date,
): Markup {
  const { form } = asked;
  const values = { endpoints: chosen, ...form.values };
  const all = [
    { value: ALL, label: 'All', hint: 'also those that are enrolled meanwhile' },
    ...hosts.map(({ endpoint_id, name }) => ({ value: endpoint_id, label: name, hint: endpoint_id.slice(0, 8) })),
  ];
  const end = toFormTime(new Date(now.getTime() + 2 * HOUR_MS).toISOString());
  const more = hasMore
    ? markup`<p class="minor">These are the newest ${MOST_CHOICES} endpoints. The call below takes the ids of others.</p>\n`
    : null;
  return postForm(asked, {
    fields: [
      onceField(form),
      field(form, { name: 'reason', label: 'Reason', hint: 'It is recorded.', autocomplete: 'off', isFirst: true }),
      field(form, {
        name: 'from',
        label: 'From, in UTC',
        type: 'datetime-local',
        isOptional: true,
        hint: 'Now, where nothing is said.',
      }),
      field(form, {
        name: 'until',
        label: 'Until, in UTC',
        type: 'datetime-local',
        value: end,
        hint: 'Seven days at most.',
      }),
      choices({ ...form, values }, { name: 'endpoints', label: 'Endpoints', type: 'checkbox' }, all),
      more,
    ],
    submit: 'Open it',
  });
}
