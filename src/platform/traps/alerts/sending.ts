import { EvidenceError } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/canonical.ts';
import type { Database } from '../../database/database.ts';
import { type Deliver, Undeliverable } from '../../jobs/delivery.ts';
import type { MailTransport } from '../../mail/mail.ts';
import type { Dispatcher } from '../../outgoing/dispatcher.ts';
import type { Detections } from '../detections.ts';
import type { TrapTables } from '../schema.ts';
import type { TrapVault } from '../vault.ts';
import type { AlertMessage } from './alerting.ts';
import type { AlertBody } from './body.ts';
import { alertMail } from './mail.ts';
import { webhookHeaders } from './webhook.ts';

export interface SendingMeans {
  database: Database;
  clock: () => Date;
  vault: TrapVault;
  detections: Pick<Detections, 'find'>;
  dispatcher: Pick<Dispatcher, 'send'>;
  /** Where people open the platform. */
  publicUrl: () => string;
}

/** Sends alerts by the channel that each is for. */
export function sendAlerts(means: SendingMeans, mail: MailTransport): Deliver {
  return async ({ message_id, payload }) => {
    const { alert_channel_id, detection_id } = payload as unknown as AlertMessage;
    const channel = await findChannel(means.database, alert_channel_id);
    const body = await bodyOf(means, detection_id);
    if (channel.kind === 'email') await mail.send(alertMail(body, { to: channel.target, messageId: message_id }));
    else await post(means, message_id, { url: channel.target, secret: channel.secret, id: alert_channel_id, body });
  };
}

/** @throws Undeliverable for a channel that was removed. */
async function findChannel(database: Database, alertChannelId: string) {
  const channels = database.tables<TrapTables>().selectFrom('alert_channels').selectAll();
  const channel = await channels.where('alert_channel_id', '=', alertChannelId).executeTakeFirst();
  if (channel === undefined || channel.removed_at !== null) throw new Undeliverable('the alert channel was removed');
  return channel;
}

async function bodyOf({ detections, clock, publicUrl }: SendingMeans, detectionId: string | null): Promise<AlertBody> {
  const timestamp = clock().toISOString();
  if (detectionId === null) return { type: 'trap.alert_test', timestamp, data: null };
  const { occurrences_kept: _, ...detection } = await detections.find(detectionId);
  const url = `${publicUrl()}/app/traps/detections/${encodeURIComponent(detectionId)}`;
  return { type: 'trap.used', timestamp, data: { ...detection, url } };
}

interface Post {
  url: string;
  secret: Uint8Array | null;
  /** Of the channel. */
  id: string;
  body: AlertBody;
}

/** @throws Undeliverable for an address that nothing may be sent to. */
async function post({ dispatcher, vault, clock }: SendingMeans, messageId: string, { url, secret, id, body }: Post) {
  if (secret === null) throw new Undeliverable('the channel has no secret to sign with');
  const text = JSON.stringify(body satisfies AlertBody as unknown as Json);
  const headers = webhookHeaders(vault.openText(id, secret), { id: messageId, at: clock(), body: text });
  try {
    const { status } = await dispatcher.send({ url: new URL(url), method: 'POST', headers, body: text });
    if (status < 200 || status > 299) throw new Error(`${new URL(url).host} answered with status ${status}`);
  } catch (error) {
    if (error instanceof EvidenceError && error.code === 'refused') throw new Undeliverable(error.message);
    throw error;
  }
}
