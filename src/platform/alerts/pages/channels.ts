import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { SEVERITIES } from '../../alert-enums.ts';
import { idempotencyKey, text } from '../../http/fields.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationForm } from '../../operations/form.ts';
import { personOf } from '../../web/access.ts';
import { forWhoMay } from '../../web/asked.ts';
import { action, copyable, dataTable, emptyState, link, moment } from '../../web/components.ts';
import { choices, field, onceField, select } from '../../web/fields.ts';
import type { FormState } from '../../web/forms.ts';
import type { PageView } from '../../web/layout.ts';
import { PAGES, pathsBelow } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import type { ModulePages } from '../../web/web.ts';
import type { AlertChannels } from '../channels.ts';
import type { AlertOperations } from '../operations.ts';
import { ALERT_SOURCES, newAlertChannelSchema, SOURCE_LABELS, type WireAlertChannel } from '../wire.ts';

/** Service behind the pages of alerts, which is that of the API's routes. */
interface AlertPageParts {
  channels: AlertChannels;
  operations: AlertOperations;
  clock: () => Date;
}

const ALERTS_PATH = `${PAGES}/alerts`;
const ABOVE_ALERTS = [{ title: 'Alerts', path: ALERTS_PATH }];
const ACT = { above: ABOVE_ALERTS, back: ALERTS_PATH };

/** Returns the pages of alert channels. */
export function pagesOfAlerts(parts: AlertPageParts): ModulePages {
  return {
    nav: [{ title: 'Alerts', path: ALERTS_PATH, scope: 'alerts:read' }],
    async routes(server) {
      for (const serve of [listPage, addPage, testAlertPage, removePage]) serve(server, parts);
    },
  };
}

function listPage(server: FastifyInstance, { channels, clock }: AlertPageParts): void {
  servePage(server, {
    path: '/alerts',
    access: { scope: 'alerts:read' },
    async view({ request }) {
      const mayAct = personOf(request).scopes.includes('alerts:write');
      const letters = link(`${PAGES}/administration`, 'undeliverable messages');
      const kept = markup`<p>Undelivered alerts are kept: see ${letters}.</p>\n`;
      return {
        title: 'Alerts',
        introduction: 'Each channel gets an alert once, and again after an hour or when its severity rises.',
        content: [
          mayAct ? markup`<p>${action(`${ALERTS_PATH}/new`, 'Add a channel')}</p>\n` : null,
          channelTable(await channels.list(), mayAct, clock()),
          forWhoMay(request, 'administration:read', () => kept),
        ],
        api: { path: '/alerts/channels/' },
      };
    },
  });
}

const KIND_WORDS = { webhook: 'webhook', email: 'e-mail' } as const;

function channelTable(channels: readonly WireAlertChannel[], mayAct: boolean, now: Date): Markup {
  const acts = {
    head: 'Actions',
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
      { head: 'Notified of', cell: ({ sources }) => sourcesInWords(sources) },
      { head: 'From severity', cell: ({ least_severity }) => least_severity },
      { head: 'Added', cell: ({ created_at }) => moment(created_at, now) },
      ...(mayAct ? [acts] : []),
    ],
    rows: channels,
    empty: emptyState('No alert channels. Add a webhook or an e-mail address.'),
  });
}

function sourcesInWords(sources: WireAlertChannel['sources']): string {
  return sources === null ? 'all services' : sources.map((source) => SOURCE_LABELS[source]).join(', ');
}

function addPage(server: FastifyInstance, { operations }: AlertPageParts): void {
  const { sources, ...others } = newAlertChannelSchema.shape;
  serveOperationForm(server, operations.addAlertChannel, {
    path: '/alerts/new',
    api: '/alerts',
    schema: z.object({
      once: idempotencyKey,
      ...others,
      name: text.trim().min(1, 'Enter a name').max(200),
      target: text.min(1, 'Enter an address').max(2000),
      // Browsers omit an unticked box, and send a single ticked one as a string.
      sources: z.preprocess((given) => (given === undefined ? null : [given].flat()), sources),
    }),
    refused: { invalid_request: 'target' },
    view: ({ form }) => ({
      title: 'Add an alert channel',
      isNarrow: true,
      above: ABOVE_ALERTS,
      fields: channelFields(form),
      submit: 'Add it',
    }),
    example: () => EXAMPLE,
    done: ({ secret, ...channel }) =>
      secret === null ? { notice: `${channel.name} now gets alerts.`, next: ALERTS_PATH } : secretPage(channel, secret),
  });
}

function channelFields(form: FormState): Markup[] {
  const values = { kind: 'webhook', ...form.values };
  const kinds = [
    { value: 'webhook', label: 'Webhook', hint: 'signed, as specified by Standard Webhooks' },
    { value: 'email', label: 'E-mail' },
  ];
  const to = 'The https address of a webhook, or an e-mail address.';
  const sources = ALERT_SOURCES.map((value) => ({ value, label: SOURCE_LABELS[value] }));
  const severities = SEVERITIES.map((value) => ({ value, label: value }));
  return [
    onceField(form),
    choices({ ...form, values }, { name: 'kind', label: 'Kind', type: 'radio' }, kinds),
    field(form, { name: 'name', label: 'Name', hint: 'Name of the recipient, as others see it.', isFirst: true }),
    field(form, { name: 'target', label: 'To', hint: to, autocomplete: 'off' }),
    choices(form, { name: 'sources', label: 'Services (all if none is selected)', type: 'checkbox' }, sources),
    select(form, { name: 'least_severity', label: 'From severity', value: 'low' }, severities),
  ];
}

const EXAMPLE = { kind: 'webhook', name: 'On call', target: 'https://example.com/hook', least_severity: 'low' };

function secretPage({ name: title, alert_channel_id }: WireAlertChannel, secret: string): PageView {
  return {
    title: 'Webhook secret',
    isNarrow: true,
    above: ABOVE_ALERTS,
    introduction: markup`${name(title)} now gets alerts. Copy the signing secret now: it cannot be shown again.`,
    content: markup`<div class="secret">${copyable('secret', 'The secret', secret)}</div>
<p>Configure the secret at the receiver, which verifies each webhook with it (Standard Webhooks).</p>
<p>${link(alertChannelPath(alert_channel_id, 'test'), 'Test it')} · ${link(ALERTS_PATH, 'I have saved it')}</p>`,
  };
}

function testAlertPage(server: FastifyInstance, { channels, operations }: AlertPageParts): void {
  serveOperationAct(server, operations.testAlertChannel, {
    path: '/alerts/:alert_channel_id/test',
    api: '/alerts',
    subject: ({ alert_channel_id }) => channels.find(alert_channel_id),
    view: (channel) => ({
      ...ACT,
      title: `Test ${channel.name}`,
      introduction: 'Sends a test alert to this channel.',
      submit: 'Send it',
    }),
    notice: (channel, answer) => TEST_RESULTS[answer.state](channel.name, answer.error),
  });
}

const TEST_RESULTS = {
  delivered: (to: string) => `The test alert to ${to} was delivered.`,
  failed: (to: string, error: string | null) => `The test alert to ${to} was not delivered: ${error}`,
  pending: (to: string) => `The test alert to ${to} is not delivered yet.`,
} as const;

function removePage(server: FastifyInstance, { channels, operations }: AlertPageParts): void {
  serveOperationAct(server, operations.removeAlertChannel, {
    path: '/alerts/:alert_channel_id/remove',
    api: '/alerts',
    subject: ({ alert_channel_id }) => channels.find(alert_channel_id),
    view: (channel) => ({
      ...ACT,
      title: `Remove ${channel.name}`,
      introduction: 'The channel gets no more alerts, and its secret is deleted.',
      submit: 'Remove it',
      isFinal: true,
    }),
    notice: (channel) => `${channel.name} gets no more alerts.`,
  });
}

const alertChannelPath = pathsBelow(ALERTS_PATH);
