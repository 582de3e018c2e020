import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { idempotencyKey } from '../../http/fields.ts';
import { actorOf, principalOf } from '../../http/principal.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, dataTable, emptyState, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { field, onceField, postForm } from '../../web/fields.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import { subscriberOperations } from '../operations/subscribers.ts';
import { subscriberSchema, type WireSubscriber } from '../wire/kill.ts';
import { type AgentPageParts, CHANGES_AGENTS, SEES_AGENTS } from './parts.ts';
import {
  ABOVE_AGENTS,
  ABOVE_SUBSCRIBERS,
  AGENTS_API,
  SUBSCRIBERS_API,
  SUBSCRIBERS_PATH,
  subscriberPath,
} from './paths.ts';

const EXAMPLE = { url: 'https://example.com/events', audience: 'https://example.com' };

/** Pages for the subscribers that are notified when an agent is stopped or reinstated. */
export function subscriberPages(server: FastifyInstance, parts: AgentPageParts): void {
  listPage(server, parts);
  newPage(server, parts);
  removePage(server, parts);
}

function listPage(server: FastifyInstance, { service: { subscribers }, people, clock }: AgentPageParts): void {
  const options = { config: SEES_AGENTS, schema: { hide: true } } as const;
  server.get('/agents/subscribers', options, async (request, reply) => {
    const data = await subscribers.list();
    const call = await namesOfActors(
      people,
      data.map(({ added_by }) => added_by),
    );
    const command = curlCommand(request, { method: 'POST', path: SUBSCRIBERS_API, body: EXAMPLE });
    const empty = emptyState(
      'Nobody is notified. Add whoever relies on agents of this platform, here or with a call of the API:',
      copyable('first-subscriber', 'Add a subscriber, as a call of the API', command),
    );
    return reply.page({
      title: 'Subscribers',
      above: ABOVE_AGENTS,
      introduction:
        'They are sent a signed message, a Security Event Token, when an agent is suspended, revoked or reinstated. They check it with the keys that this platform publishes.',
      content: [
        forWhoMay(
          request,
          'agents:write',
          () => markup`<p>${action(`${SUBSCRIBERS_PATH}/new`, 'Add a subscriber')}</p>\n`,
        ),
        table(data, { call, now: clock(), empty, request }),
      ],
      api: { path: SUBSCRIBERS_API },
    });
  });
}

interface Shown {
  call: NameActor;
  now: Date;
  empty: Markup;
  request: FastifyRequest;
}

function table(subscribers: readonly WireSubscriber[], { call, now, empty, request }: Shown): Markup {
  return dataTable({
    caption: 'Subscribers',
    columns: [
      { head: 'Address', kind: 'name', cell: ({ url }) => name(url) },
      { head: 'Audience', cell: ({ audience }) => markup`<code>${name(audience)}</code>` },
      { head: 'Added by', cell: ({ added_by }) => name(call(added_by)) },
      { head: 'Added', cell: ({ added_at }) => moment(added_at, now) },
      {
        head: 'What can be done',
        kind: 'act',
        cell: ({ subscriber_id }) =>
          forWhoMay(request, 'agents:write', () => link(subscriberPath(subscriber_id, 'remove'), 'Remove')),
      },
    ],
    rows: subscribers,
    empty,
  });
}

const newSchema = z.object({
  once: idempotencyKey,
  url: z.string().trim().min(1, 'Say where they are notified').pipe(subscriberSchema.shape.url),
  audience: z.string().trim().min(1, 'Say who they are').pipe(subscriberSchema.shape.audience),
});

function newPage(server: FastifyInstance, { service: { subscribers } }: AgentPageParts): void {
  serveForm(server, {
    path: '/agents/subscribers/new',
    access: CHANGES_AGENTS,
    schema: newSchema,
    show: (form, request, reply) => ({
      title: 'Add a subscriber',
      isNarrow: true,
      above: ABOVE_SUBSCRIBERS,
      introduction: 'Whoever relies on agents of this platform, and has to know when one is stopped.',
      content: [
        postForm(
          { request, reply, form },
          {
            fields: fieldsOf(form),
            submit: 'Add it',
          },
        ),
      ],
      api: { method: 'POST', path: SUBSCRIBERS_API, body: EXAMPLE },
    }),
    async act({ once, ...input }, request, reply) {
      await subscribers.add(actorOf(principalOf(request)), input, once);
      leaveNotice(reply, 'The subscriber is added.');
      return SUBSCRIBERS_PATH;
    },
  });
}

function fieldsOf(form: FormState): Markup[] {
  return [
    onceField(form),
    field(form, {
      name: 'url',
      label: 'Address',
      autocomplete: 'off',
      isFirst: true,
      hint: 'Where the message is sent by POST, as RFC 8935 says.',
    }),
    field(form, {
      name: 'audience',
      label: 'Audience',
      autocomplete: 'off',
      hint: 'Who they are, as the message says it: they refuse one for somebody else.',
    }),
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
      introduction: markup`${name(url)} gets no more messages. Those on their way are given up.`,
      submit: 'Remove it',
      isFinal: true,
      back: SUBSCRIBERS_PATH,
    }),
    notice: () => 'The subscriber is removed.',
  });
}
