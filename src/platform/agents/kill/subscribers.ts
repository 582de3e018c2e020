import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Actor } from '../../http/principal.ts';
import { keyedRequest, makeOnce } from '../../idempotency/keyed-results.ts';
import type { AgentServiceDeps } from '../deps.ts';
import type { AgentTables } from '../tables.ts';
import type { NewSubscriber, WireSubscriber } from '../wire/subscribers.ts';

/** The most subscribers: each gets the events of every agent. */
const MOST_SUBSCRIBERS = 20;

/** Receivers of signed Security Event Tokens about agents that are stopped or reinstated. */
export class Subscribers {
  readonly #deps: Pick<AgentServiceDeps, 'database' | 'clock' | 'administration'>;

  constructor(deps: Pick<AgentServiceDeps, 'database' | 'clock' | 'administration'>) {
    this.#deps = deps;
  }

  /** In the order in which they were added. */
  async list(): Promise<WireSubscriber[]> {
    return (await standing(this.#deps.database)).map(toWire);
  }

  /** @throws DomainError `not_found`. */
  async find(subscriberId: string): Promise<WireSubscriber> {
    return toWire(await findSubscriber(this.#deps.database, subscriberId));
  }

  /** @throws DomainError `conflict` where there are too many. */
  add(actor: Actor, input: NewSubscriber, idempotencyKey?: string): Promise<WireSubscriber> {
    const { database, clock } = this.#deps;
    const { href: url } = new URL(input.url);
    const keyed = idempotencyKey === undefined ? null : keyedRequest('agents/subscribers', idempotencyKey, input);
    const now = clock();
    return database.write(async (transaction) => {
      const outcome = await makeOnce(
        transaction,
        { keyed, now },
        () => this.#insert(transaction, actor, { ...input, url }, now),
        ({ subscriber_id }) => subscriber_id,
      );
      return toWire('made' in outcome ? outcome.made : await findSubscriber(transaction, outcome.earlier));
    });
  }

  /** Tells it nothing more. @throws DomainError `not_found`. */
  remove(actor: Actor, subscriberId: string): Promise<WireSubscriber> {
    const { database, clock } = this.#deps;
    return database.write(async (transaction) => {
      const subscriber = await findSubscriber(transaction, subscriberId);
      if (subscriber.removed_at !== null) throw new DomainError('not_found', 'the subscriber was removed already');
      const subscribers = transaction.tables<AgentTables>().updateTable('agent_subscribers');
      const removed = subscribers.set({ removed_at: clock().toISOString() });
      await removed.where('subscriber_id', '=', subscriberId).execute();
      await this.#record(transaction, actor, 'agent_subscriber.removed', subscriber);
      return toWire(subscriber);
    });
  }

  async #insert(
    transaction: Transaction,
    actor: Actor,
    { url, audience }: NewSubscriber,
    now: Date,
  ): Promise<Subscriber> {
    if ((await standing(transaction)).length >= MOST_SUBSCRIBERS)
      throw new DomainError('conflict', `there are ${MOST_SUBSCRIBERS} subscribers already; remove one first`);
    const given = { url, audience, added_at: now.toISOString(), added_by: actor.name };
    const subscribers = transaction.tables<AgentTables>().insertInto('agent_subscribers');
    const added = subscribers.values({ subscriber_id: randomUUID(), ...given, removed_at: null }).returningAll();
    const subscriber = await added.executeTakeFirstOrThrow();
    await this.#record(transaction, actor, 'agent_subscriber.added', subscriber);
    return subscriber;
  }

  /** Addresses may have secrets in them, and acts are never erased. */
  #record(
    transaction: Transaction,
    actor: Actor,
    action: 'agent_subscriber.added' | 'agent_subscriber.removed',
    { subscriber_id, url, audience }: Subscriber,
  ): Promise<void> {
    const more = { host: new URL(url).host, audience };
    return this.#deps.administration.record(transaction, {
      actor,
      action,
      of: ['agent_subscriber', subscriber_id],
      more,
    });
  }
}

type Subscriber = Selectable<AgentTables['agent_subscribers']>;

function standing(reader: Reader): Promise<Subscriber[]> {
  const subscribers = reader.tables<AgentTables>().selectFrom('agent_subscribers').selectAll();
  return subscribers.where('removed_at', 'is', null).orderBy('subscriber_no').execute();
}

/** @throws DomainError `not_found`. */
async function findSubscriber(reader: Reader, subscriberId: string): Promise<Subscriber> {
  const subscribers = reader.tables<AgentTables>().selectFrom('agent_subscribers').selectAll();
  const row = await subscribers.where('subscriber_id', '=', subscriberId).executeTakeFirst();
  if (row === undefined) throw new DomainError('not_found', 'there is no subscriber of this id');
  return row;
}

function toWire({ subscriber_id, url, audience, added_at, added_by }: Subscriber): WireSubscriber {
  return { subscriber_id, url, audience, added_at, added_by };
}
