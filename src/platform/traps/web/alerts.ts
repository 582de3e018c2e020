import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { actorOf } from '../../accounts/administration.ts';
import { DomainError } from '../../errors.ts';
import { idempotencyKey, text } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { personOf } from '../../web/access.ts';
import { serveAct } from '../../web/acts.ts';
import { forWhoMay, paramsOf } from '../../web/asked.ts';
import { action, asCurl, copyable, dataTable, emptyState, link, moment } from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { choices, field, onceField, postForm, select } from '../../web/fields.ts';
import { type FormState, serveForm } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { PAGES } from '../../web/own-path.ts';
import { leaveNotice } from '../../web/session-cookie.ts';
import { alertChannelParamsSchema, newAlertChannelSchema, type WireAlertChannel } from '../requests.ts';
import type { TrapService } from '../service.ts';
import { SEVERITIES } from '../words.ts';
import { MAY_ACT, MAY_SEE, type TrapPageParts } from './parts.ts';
import { ABOVE_TRAPS, ALERTS_PATH, alertChannelPath, trapsApi } from './paths.ts';

const ABOVE_ALERTS = [...ABOVE_TRAPS, { title: 'Alerts', path: ALERTS_PATH }];
const ACT = { above: ABOVE_ALERTS, back: ALERTS_PATH };

/** Where people are told of detections. */
export function alertPages(server: FastifyInstance, parts: TrapPageParts): void {
  listPage(server, parts);
  addPage(server, parts);
  testAlertPage(server, parts);
  removePage(server, parts);
}

function listPage(server: FastifyInstance, { service: { alertChannels }, clock }: TrapPageParts): void {
  server.get('/traps/alerts', { config: MAY_SEE, schema: { hide: true } }, async (request, reply) => {
    const mayAct = personOf(request).scopes.includes('traps:write');
    return reply.page({
      title: 'Alerts',
      above: ABOVE_TRAPS,
      introduction:
        'Each detection is told once to each channel that wants it, and not again for an hour unless somebody goes further.',
      content: [
        forWhoMay(request, 'traps:write', () => markup`<p>${action(`${ALERTS_PATH}/new`, 'Add a channel')}</p>\n`),
        alertTable(await alertChannels.list(), mayAct, clock()),
        forWhoMay(
          request,
          'administration:read',
          () =>
            markup`<p>Alerts that nobody took are kept: ${link(`${PAGES}/administration`, 'see what could not be delivered')}.</p>\n`,
        ),
        asCurl('curl', curlCommand(request, { path: trapsApi('alert-channels', '') })),
      ],
    });
  });
}

const KIND_WORDS = { webhook: 'webhook', email: 'e-mail' } as const;

function alertTable(channels: readonly WireAlertChannel[], mayAct: boolean, now: Date): Markup {
  const acts = {
    head: 'What to do with it',
    kind: 'act',
    cell: ({ alert_channel_id: id }: WireAlertChannel) =>
      markup`${link(alertChannelPath(id, 'test'), 'Test')}${link(alertChannelPath(id, 'remove'), 'Remove')}`,
  } as const;
  return dataTable({
    caption: 'Alert channels',
    columns: [
      { head: 'Name', kind: 'name', cell: (channel) => name(channel.name) },
      { head: 'Kind', cell: ({ kind }) => KIND_WORDS[kind] },
      { head: 'To', cell: ({ kind, target }) => name(kind === 'webhook' ? new URL(target).host : target) },
      { head: 'From severity', cell: ({ least_severity }) => least_severity },
      { head: 'Added', cell: ({ created_at }) => moment(created_at, now) },
      ...(mayAct ? [acts] : []),
    ],
    rows: channels,
    empty: emptyState('Nobody is told of detections. Add a webhook or an e-mail address.'),
  });
}

function addPage(server: FastifyInstance, { service: { alertChannels } }: TrapPageParts): void {
  const { name: _, ...others } = newAlertChannelSchema.shape;
  serveForm(server, {
    path: '/traps/alerts/new',
    access: MAY_ACT,
    schema: z.object({ once: idempotencyKey, name: text.trim().min(1, 'Say who is told').max(200), ...others }),
    fields: { invalid_request: 'target' },
    show: (form, request, reply) => ({
      title: 'Add an alert channel',
      isNarrow: true,
      above: ABOVE_ALERTS,
      content: [
        postForm({ request, reply, form }, { fields: channelFields(form), submit: 'Add it' }),
        asCurl('curl', curlCommand(request, { method: 'POST', path: trapsApi('alert-channels', ''), body: EXAMPLE })),
      ],
    }),
    async act({ once, ...wish }, request, reply) {
      const { secret, ...channel } = await alertChannels.add(actorOf(principalOf(request)), wish, once);
      if (secret !== null) return secretPage(channel, secret);
      leaveNotice(reply, `${channel.name} is told of detections from now on.`);
      return ALERTS_PATH;
    },
  });
}

function channelFields(form: FormState): Markup[] {
  const values = { kind: 'webhook', ...form.values };
  const kinds = [
    { value: 'webhook', label: 'Webhook', hint: 'signed, as Standard Webhooks has it' },
    { value: 'email', label: 'E-mail' },
  ];
  const to = 'The https address of a webhook, or an e-mail address.';
  const severities = SEVERITIES.map((value) => ({ value, label: value }));
  return [
    onceField(form),
    choices({ ...form, values }, { name: 'kind', label: 'Kind', type: 'radio' }, kinds),
    field(form, { name: 'name', label: 'Name', hint: 'Who is told, as others will read it.', isFirst: true }),
    field(form, { name: 'target', label: 'To', hint: to, autocomplete: 'off' }),
    select(form, { name: 'least_severity', label: 'From severity', value: 'low' }, severities),
  ];
}

const EXAMPLE = { kind: 'webhook', name: 'On call', target: 'https://example.com/hook', least_severity: 'low' };

function secretPage({ name: title, alert_channel_id }: WireAlertChannel, secret: string): PageView {
  return {
    title: 'The secret of the webhook',
    isNarrow: true,
    above: ABOVE_ALERTS,
    introduction: markup`${name(title)} is told of detections from now on. The secret that signs what is sent is shown this once.`,
    content: markup`<div class="secret">${copyable('secret', 'The secret', secret)}</div>
<p>Give it to whoever receives: libraries of Standard Webhooks believe nothing that is not signed with it.</p>
<p>${link(alertChannelPath(alert_channel_id, 'test'), 'Test it')} · ${link(ALERTS_PATH, 'I have kept it')}</p>`,
  };
}

function testAlertPage(server: FastifyInstance, { service }: TrapPageParts): void {
  serveAct(server, {
    path: '/traps/alerts/:alert_channel_id/test',
    access: MAY_ACT,
    params: alertChannelParamsSchema,
    async view(request) {
      const { name: title, alert_channel_id } = await channelOf(service, request);
      const path = trapsApi('alert-channels', alert_channel_id, 'test');
      const introduction = 'An alert is sent that says that it is a test.';
      const below = asCurl('curl', curlCommand(request, { method: 'POST', path }));
      return { ...ACT, title: `Test ${title}`, introduction, submit: 'Send it', isFinal: false, below };
    },
    async act(request) {
      const { name: title, alert_channel_id } = await channelOf(service, request);
      await service.alertChannels.test(alert_channel_id);
      const notice = `A test is on its way to ${title}. If nobody takes it, administration says so.`;
      return { notice, next: ALERTS_PATH };
    },
  });
}

function removePage(server: FastifyInstance, { service }: TrapPageParts): void {
  serveAct(server, {
    path: '/traps/alerts/:alert_channel_id/remove',
    access: MAY_ACT,
    params: alertChannelParamsSchema,
    async view(request) {
      const { name: title } = await channelOf(service, request);
      const introduction = 'It is told nothing more, and its secret is forgotten.';
      return { ...ACT, title: `Remove ${title}`, introduction, submit: 'Remove it', isFinal: true };
    },
    async act(request) {
      const { alert_channel_id } = await channelOf(service, request);
      const { name: title } = await service.alertChannels.remove(actorOf(principalOf(request)), alert_channel_id);
      return { notice: `${title} is told nothing more.`, next: ALERTS_PATH };
    },
  });
}

/** @throws DomainError `not_found`. */
async function channelOf({ alertChannels }: TrapService, request: FastifyRequest): Promise<WireAlertChannel> {
  const { alert_channel_id: id } = paramsOf<{ alert_channel_id: string }>(request);
  const channel = (await alertChannels.list()).find(({ alert_channel_id }) => alert_channel_id === id);
  if (channel === undefined) throw new DomainError('not_found', 'there is no alert channel of this id');
  return channel;
}
