import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, dataTable, emptyState, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { field, onceField } from '../../web/fields.ts';
import type { FormState } from '../../web/forms.ts';
import { servePage } from '../../web/page.ts';
import { subscriberOperations } from '../operations/subscribers.ts';
import { subscriberSchema, type WireSubscriber } from '../wire/kill.ts';
import { type AgentPageParts, SEES_AGENTS } from './parts.ts';
import {
  ABOVE_AGENTS,
  ABOVE_SUBSCRIBERS,
  AGENTS_API,
  SUBSCRIBERS_API,
  SUBSCRIBERS_PATH,
  subscriberPath,
} from './paths.ts';

const EXAMPLE = { url: 'https://example.com/events', audience: 'https://example.com' };

/** Pages of the subscribers that are notified when an agent is stopped or reinstated. */
export function subscriberPages(server: FastifyInstance, parts: AgentPageParts): void {
  listPage(server, parts);
  newPage(server, parts);
  removePage(server, parts);
}

function listPage(server: FastifyInstance, { service: { subscribers }, people, clock }: AgentPageParts): void {
  servePage(server, {
    path: '/agents/subscribers',
    access: SEES_AGENTS,
    async view({ request }) {
      const data = await subscribers.list();
      const adders = data.map(({ added_by }) => added_by);
      const add = action(`${SUBSCRIBERS_PATH}/new`, 'Add a subscriber');
      const call = await namesOfActors(people, adders);
      return {
        title: 'Subscribers',
        above: ABOVE_AGENTS,
        introduction:
          'Subscribers receive a signed message, a Security Event Token, when an agent is suspended, revoked or reinstated. They verify it with the keys that this platform publishes.',
        content: [
          forWhoMay(request, 'agents:write', () => markup`<p>${add}</p>\n`),
          table(data, { call, now: clock(), request }),
        ],
        api: { path: SUBSCRIBERS_API },
      };
    },
  });
}

interface Shown {
  call: NameActor;
  now: Date;
  request: FastifyRequest;
}

function table(subscribers: readonly WireSubscriber[], { call, now, request }: Shown): Markup {
  const command = curlCommand(request, { method: 'POST', path: SUBSCRIBERS_API, body: EXAMPLE });
  return dataTable({
    caption: 'Subscribers',
    columns: [
      { head: 'Address', kind: 'name', cell: ({ url }) => name(url) },
      { head: 'Audience', cell: ({ audience }) => markup`<code>${name(audience)}</code>` },
      { head: 'Added by', cell: ({ added_by }) => name(call(added_by)) },
      { head: 'Added', cell: ({ added_at }) => moment(added_at, now) },
      {
        head: 'Actions',
        kind: 'act',
        cell: ({ subscriber_id }) =>
          forWhoMay(request, 'agents:write', () => link(subscriberPath(subscriber_id, 'remove'), 'Remove')),
      },
    ],
    rows: subscribers,
    empty: emptyState(
      'No subscribers yet. Add those who rely on agents of this platform, here or with the API:',
      copyable('first-subscriber', 'Add a subscriber, as an API call', command),
    ),
  });
}

const newSchema = z.object({
  once: idempotencyKey,
  url: z.string().trim().min(1, 'Enter an address').pipe(subscriberSchema.shape.url),
  audience: z.string().trim().min(1, 'Enter an audience').pipe(subscriberSchema.shape.audience),
});

function newPage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationForm(server, subscriberOperations(service).addSubscriber, {
    path: '/agents/subscribers/new',
    api: AGENTS_API,
    schema: newSchema,
    view: ({ form }) => ({
      title: 'Add a subscriber',
      isNarrow: true,
      above: ABOVE_SUBSCRIBERS,
      introduction: 'A subscriber relies on agents of this platform and is notified when one is stopped.',
      fields: fieldsOf(form),
      submit: 'Add',
    }),
    example: () => EXAMPLE,
    done: () => ({ notice: 'The subscriber is added.', next: SUBSCRIBERS_PATH }),
  });
}

function fieldsOf(form: FormState): Markup[] {
  const where = 'Messages are sent here by POST (RFC 8935).';
  const who = 'Name of the recipient in the messages. The recipient refuses messages for others.';
  return [
    onceField(form),
    field(form, { name: 'url', label: 'Address', autocomplete: 'off', isFirst: true, hint: where }),
    field(form, { name: 'audience', label: 'Audience', autocomplete: 'off', hint: who }),
  ];
}

function removePage(server: FastifyInstance, { service }: AgentPageParts): void {
  serveOperationAct(server, subscriberOperations(service).removeSubscriber, {
    path: '/agents/subscribers/:subscriber_id/remove',
    api: AGENTS_API,
    subject: ({ subscriber_id }) => service.subscribers.find(subscriber_id),
    view: ({ url }) => ({
      title: 'Remove a subscriber',
      above: ABOVE_SUBSCRIBERS,
      introduction: markup`${name(url)} receives no more messages. Pending messages are discarded.`,
      submit: 'Remove',
      isFinal: true,
      back: SUBSCRIBERS_PATH,
    }),
    notice: () => 'The subscriber is removed.',
  });
}
