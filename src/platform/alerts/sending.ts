import { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { webhookHeaders } from '../../core/webhook-signature.ts';
import type { AlertState } from '../alert-enums.ts';
import type { Database, Reader } from '../database/database.ts';
import { type Deliver, type Note, Undeliverable } from '../jobs/delivery.ts';
import type { Message } from '../jobs/outbox.ts';
import type { Mail, MailTransport } from '../mail/mail.ts';
import type { Dispatcher } from '../outgoing/dispatcher.ts';
import type { SecretBox } from '../secrets.ts';
import type { AlertContent, AlertedService, AlertStanding } from './alert.ts';
import type { AlertMessage } from './notifying.ts';
import { sealedChannels, sealedMessages } from './sealed-rows.ts';
import type { AlertTables } from './tables.ts';

/** End of a reason for an alert that is not sent. */
const CHANGED = 'was changed outside the platform; run `evidence-platform fsck`';

interface SendingDeps {
  database: Database;
  clock: () => Date;
  /** Opens the secrets of channels. */
  box: SecretBox;
  dispatcher: Pick<Dispatcher, 'send'>;
  /** Returns the public address of the platform. */
  publicUrl: () => string;
}

/** Body of a webhook. */
interface AlertBody {
  /** Kind of the alert, or `alert.test` for a test. */
  type: string;
  timestamp: string;
  /** Current state of the subject, with the address of its page as `url`; null for a test. */
  data: { [name: string]: Json } | null;
}

/** Alert in both forms. */
interface AlertForms {
  webhook: Omit<AlertBody, 'timestamp'>;
  mail: Omit<Mail, 'to'>;
}

const TEST: AlertForms = {
  webhook: { type: 'alert.test', data: null },
  mail: { subject: 'Test alert', text: 'This address receives alerts.\n' },
};

/** Returns a function that sends the alerts of a service through their channels. */
export function sendAlerts(deps: SendingDeps, mail: MailTransport, alerted: AlertedService): Deliver {
  return async (message) => send(deps, mail, message, await formsOf(deps, alerted, message.message_id));
}

/** Returns a function that sends test alerts. */
export function sendTests(deps: SendingDeps, mail: MailTransport): Deliver {
  return (message) => send(deps, mail, message, TEST);
}

async function formsOf(
  { database, publicUrl }: SendingDeps,
  alerted: AlertedService,
  messageId: string,
): Promise<AlertForms> {
  const alert = await findMessage(database, messageId);
  if (alert === null) throw new Undeliverable(`the alert ${CHANGED}`);
  const content = await alerted.describe(alert);
  const url = publicUrl() + content.path;
  return { webhook: { type: alert.kind, data: { ...content.data, url } }, mail: alertMail(content, url) };
}

async function send(
  deps: SendingDeps,
  mail: MailTransport,
  { message_id, payload }: Message,
  forms: AlertForms,
): Promise<void> {
  const { alert_channel_id: id } = payload as unknown as AlertMessage;
  const { kind, target, secret } = await findChannel(deps.database, id);
  const now = deps.clock();
  if (kind === 'email') await mail.send({ ...forms.mail, to: target, messageId: `<${message_id}@alerts>`, date: now });
  else {
    const { type, data } = forms.webhook;
    await post(deps, message_id, { url: target, secret, id, body: { type, timestamp: now.toISOString(), data } });
  }
}

/** @throws Undeliverable if the channel was removed, or changed outside the platform. */
async function findChannel(database: Database, alertChannelId: string) {
  const channels = database.tables<AlertTables>().selectFrom('alerting_channels').selectAll();
  const channel = await channels.where('alert_channel_id', '=', alertChannelId).executeTakeFirst();
  if (channel === undefined || channel.removed_at !== null) throw new Undeliverable('the alert channel was removed');
  if (!sealedChannels.isWhole(database, channel)) throw new Undeliverable(`the alert channel ${CHANGED}`);
  return channel;
}

/** Returns an alert; null if its row was removed, or is not as the platform wrote it. */
async function findMessage(reader: Reader, messageId: string) {
  const messages = reader.tables<AlertTables>().selectFrom('alert_messages').selectAll();
  const message = await messages.where('message_id', '=', messageId).executeTakeFirst();
  return message !== undefined && sealedMessages.isWhole(reader, message) ? message : null;
}

interface Post {
  url: string;
  secret: Uint8Array | null;
  /** Id of the channel. */
  id: string;
  body: AlertBody;
}

/** @throws Undeliverable if sending to the address is not allowed. */
async function post({ dispatcher, box, clock }: SendingDeps, messageId: string, { url, secret, id, body }: Post) {
  if (secret === null) throw new Undeliverable('the alert channel has no signing secret');
  const text = JSON.stringify(body);
  const headers = webhookHeaders(box.open(secret, id).toString(), { id: messageId, at: clock(), body: text });
  try {
    const { status } = await dispatcher.send({ url: new URL(url), method: 'POST', headers, body: text });
    if (status < 200 || status > 299) throw new Error(`${new URL(url).host} answered with status ${status}`);
  } catch (error) {
    if (error instanceof EvidenceError && error.code === 'refused') throw new Undeliverable(error.message);
    throw error;
  }
}

/** Returns an alert as a mail. @param url of the subject's page. */
function alertMail({ subject, sentence, facts }: AlertContent, url: string): Omit<Mail, 'to'> {
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${inOneLine(value)}`]));
  return { subject: inOneLine(subject), text: `${sentence}\n\n${lines.join('\n')}\n\n${url}\n` };
}

/** Replaces line breaks, so that untrusted text cannot start a line. */
function inOneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ');
}

/** Returns a function that records the delivery of an alert, for its message and in its service. */
export function noteStanding(alerted: AlertedService, clock: () => Date): Note {
  return async (transaction, messageId, { status, attempts }) => {
    const state = status === 'waiting' ? 'pending' : status;
    const delivered_at = state === 'delivered' ? clock().toISOString() : null;
    const message = await findMessage(transaction, messageId);
    if (message === null) return;
    await sealedMessages.change(transaction, message, { state, attempts, delivered_at });
    const { subject_id } = message;
    const subject = { source: alerted.source, subject_id };
    await alerted.noteAlert(transaction, subject_id, () => readStanding(transaction, subject));
  };
}

async function readStanding(
  reader: Reader,
  { source, subject_id }: Pick<AlertTables['alert_messages'], 'source' | 'subject_id'>,
): Promise<AlertStanding> {
  const all = reader.tables<AlertTables>().selectFrom('alert_messages').select(['state', 'attempts']);
  const messages = await all.where('source', '=', source).where('subject_id', '=', subject_id).execute();
  return { state: stateOf(messages), attempts: Math.max(...messages.map(({ attempts }) => attempts)) };
}

/** Returns the state over all channels: delivered to at least one, pending at one, or given up. */
function stateOf(messages: readonly Pick<AlertTables['alert_messages'], 'state'>[]): AlertState {
  const is = (state: AlertTables['alert_messages']['state']) => messages.some((message) => message.state === state);
  if (is('delivered')) return 'delivered';
  return is('pending') ? 'pending' : 'dead';
}
