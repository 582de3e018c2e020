import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { idempotencyKey, text } from '../../http/fields.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { choices, field, onceField } from '../../web/fields.ts';
import { formTime, toFormTime } from '../../web/form-time.ts';
import type { FormState } from '../../web/forms.ts';
import { askedReason } from '../../web/reason.ts';
import { changeOperations } from '../operations/changes.ts';
import type { EndpointService } from '../service.ts';
import type { WireHost } from '../wire/hosts.ts';
import type { EndpointPageParts } from './parts.ts';
import { ABOVE_WINDOWS, ENDPOINTS_API, windowPath } from './paths.ts';

/** Maximum number of endpoints, the newest, that the form offers. */
const MOST_CHOICES = 100;
/** Value that selects all endpoints instead of ids. */
const ALL = 'all';
const HOUR_MS = 60 * 60_000;

const schema = z
  .object({
    once: idempotencyKey,
    endpoints: z.preprocess(
      (given) => (given === undefined ? [] : [given].flat()),
      z.array(text.max(100)).min(1, 'Choose at least one endpoint'),
    ),
    from: formTime,
    until: formTime.refine((at) => at !== undefined, 'Enter an end time').transform((at = '') => at),
    reason: askedReason,
  })
  .transform(({ endpoints, from, ...given }) => ({
    ...given,
    ...(endpoints.includes(ALL) ? { all: true as const } : { endpoint_ids: endpoints }),
    ...(from === undefined ? {} : { from }),
  }));

const EXAMPLE = { all: true, until: '2026-12-01T18:00:00Z', reason: 'December upgrade' };

/** Serves the form for a new change window. */
export function newWindowPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationForm(server, changeOperations(service).openChangeWindow, {
    path: '/endpoints/change-windows/new',
    api: ENDPOINTS_API,
    schema,
    refused: { invalid_request: 'until' },
    view: async ({ form, request }) => ({
      title: 'Open a change window',
      above: ABOVE_WINDOWS,
      introduction:
        'Changes found on endpoints during the window raise no alerts and are listed under the window. Afterwards, approve or reopen them. Events about reports are not quieted. The window ends automatically.',
      fields: windowFields(await hostsToChoose(service, request), form, clock()),
      submit: 'Open',
    }),
    example: () => EXAMPLE,
    done: ({ window_id }) => ({
      notice: 'The change window is open, and ends automatically.',
      next: windowPath(window_id),
    }),
  });
}

interface Choosable {
  hosts: readonly Pick<WireHost, 'endpoint_id' | 'name'>[];
  /** Preselected value: the id of an endpoint from the query, or `all`. */
  chosen: string;
  /** True if there are more endpoints than these. */
  hasMore: boolean;
}

async function hostsToChoose({ hosts }: EndpointService, { query }: FastifyRequest): Promise<Choosable> {
  const { data, next_cursor } = await hosts.list({ limit: MOST_CHOICES });
  const { endpoint_id: asked } = query as { endpoint_id?: unknown };
  if (typeof asked !== 'string') return { hosts: data, chosen: ALL, hasMore: next_cursor !== null };
  const others = data.filter(({ endpoint_id }) => endpoint_id !== asked);
  return { hosts: [await hosts.find(asked), ...others], chosen: asked, hasMore: next_cursor !== null };
}

function windowFields({ hosts, chosen, hasMore }: Choosable, form: FormState, now: Date): (Markup | null)[] {
  const values = { endpoints: chosen, ...form.values };
  const all = [
    { value: ALL, label: 'All', hint: 'including those enrolled later' },
    ...hosts.map(({ endpoint_id, name }) => ({ value: endpoint_id, label: name, hint: endpoint_id.slice(0, 8) })),
  ];
  const end = toFormTime(new Date(now.getTime() + 2 * HOUR_MS).toISOString());
  const more = hasMore
    ? markup`<p class="minor">These are the newest ${MOST_CHOICES} endpoints. The API call below accepts the IDs of others.</p>\n`
    : null;
  const time = { type: 'datetime-local' } as const;
  const from = { ...time, name: 'from', label: 'From, in UTC', isOptional: true };
  return [
    onceField(form),
    field(form, {
      name: 'reason',
      label: 'Reason',
      hint: 'The reason is recorded.',
      autocomplete: 'off',
      isFirst: true,
    }),
    field(form, { ...from, hint: 'Default: now.' }),
    field(form, { ...time, name: 'until', label: 'Until, in UTC', value: end, hint: 'At most seven days later.' }),
    choices({ ...form, values }, { name: 'endpoints', label: 'Endpoints', type: 'checkbox' }, all),
    more,
  ];
}
