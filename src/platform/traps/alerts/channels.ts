import { randomUUID } from 'node:crypto';
import type { Json } from '../../../core/json/canonical.ts';
import type { Actor } from '../../accounts/administration.ts';
import type { AuditLog } from '../../audit/api.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import { keyedRequest, makeOnce } from '../../idempotency/keyed-results.ts';
import type { Outbox } from '../../jobs/outbox.ts';
import { canonicalEmail, isEmail } from '../../mail/address.ts';
import { recordAct } from '../entries.ts';
import type { NewAlertChannel, WireAlertChannel } from '../requests.ts';
import type { TrapTables } from '../schema.ts';
import type { TrapVault } from '../vault.ts';
import { ALERT_KIND, type AlertMessage } from './alerting.ts';
import { newWebhookSecret } from './webhook.ts';

/** So many are enough for people, and every detection is told to each. */
const MOST_CHANNELS = 20;

export interface AlertChannelsMeans {
  database: Database;
  clock: () => Date;
  vault: TrapVault;
  log: AuditLog;
  outbox: Pick<Outbox, 'add'>;
}

/** Where people are told of detections. */
export class AlertChannels {
  readonly #means: AlertChannelsMeans;

  constructor(means: AlertChannelsMeans) {
    this.#means = means;
  }

  /** In the order in which they were made. */
  async list(): Promise<WireAlertChannel[]> {
    const channels = this.#means.database.tables<TrapTables>().selectFrom('alert_channels').selectAll();
    const rows = await channels.where('removed_at', 'is', null).orderBy('channel_no').execute();
    return rows.map(({ channel_no: _, secret: __, removed_at: ___, ...channel }) => channel);
  }

  /**
   * @throws DomainError `invalid_request`; `conflict` where there are too many; `key_shown_before` for a repeated request.
   */
  async add(
    actor: Actor,
    wish: NewAlertChannel,
    idempotencyKey?: string,
  ): Promise<WireAlertChannel & { secret: string | null }> {
    const { database, clock, vault } = this.#means;
    const target = targetOf(wish);
    if ((await this.list()).length >= MOST_CHANNELS)
      throw new DomainError('conflict', `there are ${MOST_CHANNELS} alert channels already; remove one first`);
    const secret = wish.kind === 'webhook' ? newWebhookSecret() : null;
    const alert_channel_id = randomUUID();
    const now = clock();
    const channel = { ...wish, alert_channel_id, target, created_at: now.toISOString() };
    const sealed = secret === null ? null : vault.sealText(alert_channel_id, secret);
    const keyed = idempotencyKey === undefined ? null : keyedRequest('traps/alert-channels', idempotencyKey, wish);
    const outcome = await database.write((transaction) =>
      makeOnce(
        transaction,
        { keyed, now },
        async () => {
          const channels = transaction.tables<TrapTables>().insertInto('alert_channels');
          await channels.values({ ...channel, secret: sealed, removed_at: null }).execute();
          await this.#record(transaction, actor, 'alert_channel.added', channel);
          return channel;
        },
        () => alert_channel_id,
      ),
    );
    if ('made' in outcome) return { ...channel, secret };
    if (secret === null) return { ...(await this.#find(outcome.earlier)), secret };
    throw new DomainError(
      'key_shown_before',
      `this request added the alert channel ${outcome.earlier} before, whose secret was shown then and cannot be shown again; if it was lost, remove that channel and add another`,
    );
  }

  /** @throws DomainError `not_found`. */
  async remove(actor: Actor, alertChannelId: string): Promise<WireAlertChannel> {
    const { database, clock } = this.#means;
    return database.write(async (transaction) => {
      const channel = await this.#find(alertChannelId);
      const channels = transaction.tables<TrapTables>().updateTable('alert_channels');
      const removed = channels.set({ removed_at: clock().toISOString(), secret: null });
      await removed.where('alert_channel_id', '=', alertChannelId).execute();
      await this.#record(transaction, actor, 'alert_channel.removed', channel);
      return channel;
    });
  }

  /** Sends an alert that says that it is a test. @returns the id of its message. @throws DomainError `not_found`. */
  async test(alertChannelId: string): Promise<{ message_id: string }> {
    const { database, outbox } = this.#means;
    await this.#find(alertChannelId);
    const payload: AlertMessage = { alert_channel_id: alertChannelId, detection_id: null };
    const message_id = await database.write((transaction) =>
      outbox.add(transaction, ALERT_KIND, payload as unknown as Json),
    );
    return { message_id };
  }

  async #find(alertChannelId: string): Promise<WireAlertChannel> {
    const channel = (await this.list()).find(({ alert_channel_id }) => alert_channel_id === alertChannelId);
    if (channel === undefined) throw new DomainError('not_found', 'there is no alert channel of this id');
    return channel;
  }

  async #record(transaction: Transaction, actor: Actor, action: string, channel: WireAlertChannel): Promise<void> {
    const { alert_channel_id, kind, name, target, least_severity } = channel;
    // Addresses of webhooks may have secrets in them.
    const more = { kind, name, least_severity, ...(kind === 'webhook' ? { host: new URL(target).host } : {}) };
    const of = ['alert_channel', alert_channel_id] as const;
    await recordAct(this.#means.log, transaction, { actor, action, of, more });
  }
}

/** @throws DomainError `invalid_request`. */
function targetOf({ kind, target }: NewAlertChannel): string {
  if (kind === 'email') {
    const email = canonicalEmail(target);
    if (!isEmail(email)) throw new DomainError('invalid_request', 'target: it is not an e-mail address');
    return email;
  }
  const url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new DomainError('invalid_request', 'target: it is not the http or https address of a webhook');
  if (url.username !== '' || url.password !== '')
    throw new DomainError('invalid_request', 'target: it has a user or a password in it; webhooks are signed');
  return url.href;
}
