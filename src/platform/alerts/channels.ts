import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Json } from '../../core/json/canonical.ts';
import { newWebhookSecret } from '../../core/webhook-signature.ts';
import type { Administration } from '../accounts/api.ts';
import type { Database, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, invalidField, there } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { keyedRequest, makeOnce } from '../idempotency/keyed-results.ts';
import type { Outbox } from '../jobs/outbox.ts';
import { canonicalEmail, isEmail } from '../mail/address.ts';
import type { Dispatcher } from '../outgoing/dispatcher.ts';
import type { SecretBox } from '../secrets.ts';
import { type AlertMessage, TEST_KIND } from './notifying.ts';
import { sealedChannels } from './sealed-rows.ts';
import type { AlertTables } from './tables.ts';
import { ALERT_SOURCES, type NewAlertChannel, type WireAlertChannel } from './wire.ts';

/** Maximum number of channels, each of which may get every alert. */
const MOST_CHANNELS = 20;

interface AlertChannelsDeps {
  database: Database;
  clock: () => Date;
  /** Seals the secrets of channels. */
  box: SecretBox;
  administration: Administration;
  outbox: Pick<Outbox, 'add'>;
  dispatcher: Pick<Dispatcher, 'refusal'>;
}

/** Channels that send alerts. */
export class AlertChannels {
  readonly #deps: AlertChannelsDeps;

  constructor(deps: AlertChannelsDeps) {
    this.#deps = deps;
  }

  /** Lists channels in the order in which they were added. */
  async list(): Promise<WireAlertChannel[]> {
    const channels = this.#deps.database.tables<AlertTables>().selectFrom('alerting_channels').selectAll();
    const rows = await channels.where('removed_at', 'is', null).orderBy('channel_no').execute();
    return rows.map(toWire);
  }

  /**
   * @throws DomainError `invalid_request`; `conflict` if there are too many; `key_shown_before` for a repeated request.
   */
  async add(
    actor: Actor,
    input: NewAlertChannel,
    idempotencyKey?: string,
  ): Promise<WireAlertChannel & { secret: string | null }> {
    const { database, clock, box } = this.#deps;
    const target = targetOf(input);
    if (input.kind === 'webhook') await this.#refuseInternal(new URL(target));
    if ((await this.list()).length >= MOST_CHANNELS)
      throw new DomainError('conflict', `there are already ${MOST_CHANNELS} alert channels; remove one first`);
    const secret = input.kind === 'webhook' ? newWebhookSecret() : null;
    const alert_channel_id = randomUUID();
    const now = clock();
    const sources = input.sources === null ? null : ALERT_SOURCES.filter((each) => input.sources?.includes(each));
    const channel = { ...input, alert_channel_id, target, sources, created_at: now.toISOString() };
    const sealed = secret === null ? null : box.seal(Buffer.from(secret), alert_channel_id);
    const keyed = keyedRequest('alerts/channels', idempotencyKey, input);
    const outcome = await database.write((transaction) =>
      makeOnce(
        transaction,
        { keyed, now },
        async () => {
          const channels = transaction.tables<AlertTables>().insertInto('alerting_channels');
          const row = { ...channel, sources: sources?.join(' ') ?? null, secret: sealed, removed_at: null };
          await channels.values(sealedChannels.sealed(transaction, row)).execute();
          await this.#record(transaction, actor, 'alert_channel.added', channel);
          return channel;
        },
        () => alert_channel_id,
      ),
    );
    if ('made' in outcome) return { ...channel, secret };
    if (secret === null) return { ...(await this.find(outcome.earlier)), secret };
    throw new DomainError(
      'key_shown_before',
      `this request already added the alert channel ${outcome.earlier}, whose secret cannot be shown again; if you lost it, remove that channel and add another one`,
    );
  }

  /** @throws DomainError `not_found`. */
  async remove(actor: Actor, alertChannelId: string): Promise<WireAlertChannel> {
    const { database, clock } = this.#deps;
    return database.write(async (transaction) => {
      const channel = await this.find(alertChannelId);
      await sealedChannels.change(transaction, channel, { removed_at: clock().toISOString(), secret: null });
      await this.#record(transaction, actor, 'alert_channel.removed', channel);
      return channel;
    });
  }

  /** Sends a test alert. @returns the id of its message. @throws DomainError `not_found`. */
  async test(alertChannelId: string): Promise<{ message_id: string }> {
    const { database, outbox } = this.#deps;
    await this.find(alertChannelId);
    const payload: AlertMessage = { alert_channel_id: alertChannelId };
    const message_id = await database.write((transaction) =>
      outbox.add(transaction, TEST_KIND, payload as unknown as Json),
    );
    return { message_id };
  }

  /** Returns the names of channels by their ids, including removed ones. */
  async namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { database } = this.#deps;
    const channels = database
      .tables<AlertTables>()
      .selectFrom('alerting_channels')
      .select(['alert_channel_id', 'name']);
    const rows = await channels.where(database.sql.isAmong('alert_channel_id', ids)).execute();
    return new Map(rows.map(({ alert_channel_id, name }) => [alert_channel_id, name]));
  }

  /** @throws DomainError `not_found`. */
  async find(alertChannelId: string): Promise<WireAlertChannel> {
    const channel = (await this.list()).find(({ alert_channel_id }) => alert_channel_id === alertChannelId);
    return there(channel, 'no alert channel has this ID');
  }

  /** @throws DomainError `invalid_request`. */
  async #refuseInternal(url: URL): Promise<void> {
    const refusal = await this.#deps.dispatcher.refusal(url);
    if (refusal === null) return;
    const next = `the channel was not added. If it is intended, add ${url.host} to outgoing_hosts`;
    throw invalidField('target', `${url.hostname} is an internal address; ${next}`);
  }

  #record(
    transaction: Transaction,
    actor: Actor,
    action: 'alert_channel.added' | 'alert_channel.removed',
    { alert_channel_id, kind, target, least_severity, sources }: WireAlertChannel,
  ): Promise<void> {
    // Recorded acts are never erased, so they omit names and addresses; addresses of webhooks may contain secrets.
    const host = kind === 'webhook' ? { host: new URL(target).host } : {};
    const more = { kind, least_severity, sources, ...host };
    const act = { actor, action, of: ['alert_channel', alert_channel_id], more } as const;
    return this.#deps.administration.record(transaction, act);
  }
}

const SHOWN = ['alert_channel_id', 'kind', 'name', 'target', 'least_severity', 'created_at'] as const;

function toWire(row: Selectable<AlertTables['alerting_channels']>): WireAlertChannel {
  const sources = row.sources?.split(' ') ?? null;
  return { ...pick(row, SHOWN), sources: sources && ALERT_SOURCES.filter((each) => sources.includes(each)) };
}

/** @throws DomainError `invalid_request`. */
function targetOf({ kind, target }: NewAlertChannel): string {
  if (kind === 'email') {
    const email = canonicalEmail(target);
    if (!isEmail(email)) throw invalidField('target', 'must be an e-mail address');
    return email;
  }
  const url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalidField('target', 'must be the http or https URL of a webhook');
  if (url.username !== '' || url.password !== '')
    throw invalidField('target', 'must not contain a user or a password; webhooks are signed instead');
  return url.href;
}
