import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { EvidenceError } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/canonical.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { pick } from '../../database/table.ts';
import { DomainError } from '../../errors.ts';
import type { Actor } from '../../http/principal.ts';
import { keyedRequest, makeIdOnce } from '../../idempotency/keyed-results.ts';
import { type Deliver, type Sends, Undeliverable } from '../../jobs/delivery.ts';
import { rowChanger, rowFinder, rowInserter } from '../../rows.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentServiceDeps, KillDeps } from '../deps.ts';
import type { SecurityEventName } from '../identity/tokens.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';
import type { NewSubscriber, WireSubscriber } from '../wire/kill.ts';
import type { Kill } from './kill-rows.ts';

/** Maximum number of subscribers, each of which receives the events of every agent. */
const MOST_SUBSCRIBERS = 20;

type SubscriberDeps = Pick<AgentServiceDeps, 'database' | 'clock' | 'administration'>;

/** Subscribers, which receive signed Security Event Tokens about agents that are stopped or reinstated. */
export class Subscribers {
  readonly #deps: SubscriberDeps;

  constructor(deps: SubscriberDeps) {
    this.#deps = deps;
  }

  /** Returns subscribers in the order in which they were added. */
  async list(): Promise<WireSubscriber[]> {
    return (await standing(this.#deps.database)).map(toWire);
  }

  /** @throws DomainError `not_found`. */
  async find(subscriberId: string): Promise<WireSubscriber> {
    return toWire(await findSubscriber(this.#deps.database, subscriberId));
  }

  /** @throws DomainError `conflict` if there are too many. */
  async add(actor: Actor, input: NewSubscriber, idempotencyKey?: string): Promise<WireSubscriber> {
    const keyed = keyedRequest('agents/subscribers', idempotencyKey, input);
    return this.find(await makeIdOnce(this.#deps, keyed, (transaction) => this.#insert(transaction, actor, input)));
  }

  /** Removes a subscriber, which gets no further events. @throws DomainError `not_found`. */
  remove(actor: Actor, subscriberId: string): Promise<WireSubscriber> {
    const { database, clock } = this.#deps;
    return database.write(async (transaction) => {
      const subscriber = await findSubscriber(transaction, subscriberId);
      if (subscriber.removed_at !== null) throw new DomainError('not_found', 'the subscriber was already removed');
      await changeSubscriber(transaction, subscriber, { removed_at: clock().toISOString() });
      await this.#record(transaction, actor, 'agent_subscriber.removed', subscriber);
      return toWire(subscriber);
    });
  }

  async #insert(transaction: Transaction, actor: Actor, { url, audience }: NewSubscriber): Promise<string> {
    if ((await standing(transaction)).length >= MOST_SUBSCRIBERS)
      throw new DomainError('conflict', `there are already ${MOST_SUBSCRIBERS} subscribers; remove one first`);
    const subscriber = await insertSubscriber(transaction, {
      subscriber_id: randomUUID(),
      url: new URL(url).href,
      audience,
      added_at: this.#deps.clock().toISOString(),
      added_by: actor.name,
    });
    await this.#record(transaction, actor, 'agent_subscriber.added', subscriber);
    return subscriber.subscriber_id;
  }

  /** Records the host only: addresses may contain secrets, and recorded acts are never erased. */
  #record(
    transaction: Transaction,
    actor: Actor,
    action: 'agent_subscriber.added' | 'agent_subscriber.removed',
    { subscriber_id, url, audience }: Subscriber,
  ): Promise<void> {
    const of = ['agent_subscriber', subscriber_id] as const;
    const more = { host: new URL(url).host, audience };
    return this.#deps.administration.record(transaction, { actor, action, of, more });
  }
}

type Subscriber = Selectable<AgentTables['agent_subscribers']>;

const insertSubscriber = rowInserter(AGENT_TABLES, 'agent_subscribers');
const changeSubscriber = rowChanger(AGENT_TABLES, 'agent_subscribers', 'subscriber_no');
const insertDelivery = rowInserter(AGENT_TABLES, 'agent_set_deliveries');

function standing(reader: Reader): Promise<Subscriber[]> {
  const subscribers = reader.tables<AgentTables>().selectFrom('agent_subscribers').selectAll();
  return subscribers.where('removed_at', 'is', null).orderBy('subscriber_no').execute();
}

/** @throws DomainError `not_found`. */
const findSubscriber = rowFinder(AGENT_TABLES, 'agent_subscribers', 'subscriber_id', {
  missing: 'no subscriber has this ID',
});

function toWire(row: Subscriber): WireSubscriber {
  return pick(row, ['subscriber_id', 'url', 'audience', 'added_at', 'added_by']);
}

/** Kind of these messages in the outbox. */
const OUTBOX_KIND = 'agents/security-event';

interface SubscriberEvent {
  agent: Pick<Agent, 'agent_no' | 'agent_id'>;
  /** Kill that caused the event; null if no kill switch was used. */
  kill: Pick<Kill, 'kill_no' | 'kill_id'> | null;
  event: SecurityEventName;
}

/** Signs an event for each subscriber, and queues it for sending. @returns the number of subscribers. */
export async function notifySubscribers(
  transaction: Transaction,
  { issuer, outbox, clock }: Pick<KillDeps, 'issuer' | 'outbox' | 'clock'>,
  { agent, kill, event }: SubscriberEvent,
): Promise<number> {
  const subscribers = await standing(transaction);
  const at = clock();
  for (const { subscriber_no, audience } of subscribers) {
    const jti = randomUUID();
    const jws = await issuer.signSecurityEvent(transaction, {
      aud: audience,
      jti,
      ...(kill !== null && { txn: kill.kill_id }),
      agentId: agent.agent_id,
      event,
      at,
      detail: { agent_id: agent.agent_id },
    });
    const message_id = await outbox.add(transaction, OUTBOX_KIND, { jti } satisfies Json);
    const of = { jti, subscriber_no, agent_no: agent.agent_no, kill_no: kill?.kill_no ?? null };
    const waiting = { message_id, state: 'pending', attempts: 0, made_at: at.toISOString() } as const;
    await insertDelivery(transaction, { ...of, event, jws, ...waiting });
  }
  return subscribers.length;
}

/** Returns the deliveries of the tokens of kills. */
export function deliveriesOfKills(reader: Reader, killNos: readonly number[]) {
  return reader
    .tables<AgentTables>()
    .selectFrom('agent_set_deliveries')
    .innerJoin('agent_subscribers', 'agent_subscribers.subscriber_no', 'agent_set_deliveries.subscriber_no')
    .innerJoin('agents', 'agents.agent_no', 'agent_set_deliveries.agent_no')
    .select(['kill_no', 'subscriber_id', 'audience', 'agent_id', 'jti', 'event', 'made_at'])
    .select(['agent_set_deliveries.state', 'attempts', 'delivered_at'])
    .where('kill_no', 'in', killNos.length === 0 ? [-1] : [...killNos])
    .orderBy('delivery_no')
    .execute();
}

/** Returns the delivery of tokens by push (RFC 8935). */
export function sendsSecurityEvents(deps: Pick<KillDeps, 'database' | 'dispatcher' | 'clock'>): Sends {
  const { clock } = deps;
  return new Map([
    [
      OUTBOX_KIND,
      {
        deliver: deliverWith(deps),
        async note(transaction, messageId, { status, attempts }) {
          const state = status === 'waiting' ? 'pending' : status;
          const delivered_at = state === 'delivered' ? clock().toISOString() : null;
          const deliveries = transaction.tables<AgentTables>().updateTable('agent_set_deliveries');
          await deliveries.set({ state, attempts, delivered_at }).where('message_id', '=', messageId).execute();
        },
      },
    ],
  ]);
}

function deliverWith({ database, dispatcher }: Pick<KillDeps, 'database' | 'dispatcher'>): Deliver {
  return async ({ message_id }) => {
    const deliveries = database.tables<AgentTables>().selectFrom('agent_set_deliveries');
    const { jws, url, removed_at } = await deliveries
      .innerJoin('agent_subscribers', 'agent_subscribers.subscriber_no', 'agent_set_deliveries.subscriber_no')
      .select(['jws', 'url', 'removed_at'])
      .where('message_id', '=', message_id)
      .executeTakeFirstOrThrow();
    if (removed_at !== null) throw new Undeliverable('the subscriber was removed');
    const headers = { 'content-type': 'application/secevent+jwt', accept: 'application/json' };
    try {
      const { status, body } = await dispatcher.send({ url: new URL(url), method: 'POST', headers, body: jws });
      if (status < 200 || status > 299) throw new Error(refusalOf(new URL(url).host, status, body));
    } catch (error) {
      if (error instanceof EvidenceError && error.code === 'refused') throw new Undeliverable(error.message);
      throw error;
    }
  };
}

const LONGEST_QUOTE = 200;

/** Returns a readable refusal from `err` and `description` (RFC 8935 section 2.3). */
function refusalOf(host: string, status: number, body: Buffer): string {
  const answered = `${host} answered with status ${status}`;
  try {
    const { err, description } = JSON.parse(body.toString()) as { err?: unknown; description?: unknown };
    const quoted = [err, description]
      .filter((each) => typeof each === 'string')
      .map((each) => each.slice(0, LONGEST_QUOTE));
    return quoted.length === 0 ? answered : `${answered}: ${quoted.join(': ')}`;
  } catch {
    return answered;
  }
}
