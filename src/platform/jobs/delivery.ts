import { sql } from 'kysely';
import { messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { isDue } from './due.ts';
import { type FailureListener, keepLooking, type Looking } from './looking.ts';
import type { Message } from './outbox.ts';
import type { JobTables } from './tables.ts';

/**
 * Delivers a message. @throws Error with a readable message; the delivery is retried unless the error is Undeliverable.
 */
export type Deliver = (message: Message) => Promise<void>;

/** State of a message after an attempt to deliver it. */
interface Standing {
  status: 'waiting' | 'delivered' | 'dead';
  attempts: number;
}

/** Records the state of a message elsewhere, in the transaction that changes the outbox. */
export type Note = (transaction: Transaction, messageId: string, standing: Standing) => Promise<void>;

/** Delivery, and listener for the state, by the kind of a message. */
export type Sends = ReadonlyMap<string, { deliver: Deliver; note: Note }>;

/** Error for a message that no retry can deliver. */
export class Undeliverable extends Error {}

interface DeliveryOptions {
  clock: () => Date;
  /** Deliveries by kind. */
  deliveries: ReadonlyMap<string, Deliver>;
  /** Listeners for the state by kind, if any. */
  notes?: ReadonlyMap<string, Note>;
  random?: () => number;
}

/** Maximum number of messages taken at a time. */
const AT_ONCE = 20;

/** Lease of a delivery, after which its process is considered dead. */
const LEASE_MS = 60_000;

/** Number of attempts after which only a person can retry. */
export const ATTEMPTS = 12;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60 * 60 * 1000;

/**
 * Delivers the messages of the outbox. Failed deliveries are retried with growing pauses, and finally given up. Several
 * processes may share an outbox; each message is delivered by one at a time.
 */
export class OutboxDelivery {
  readonly #database: Database;
  readonly #options: DeliveryOptions;

  constructor(database: Database, options: DeliveryOptions) {
    this.#database = database;
    this.#options = options;
  }

  /**
   * Starts to look for due messages.
   * @param listener is notified of failures to read or write the outbox; the failure of a message is stored with the
   * message.
   * @returns a handle whose `stop` resolves when no delivery is running.
   */
  start(listener: FailureListener): Looking {
    return keepLooking(() => this.#lookAndDeliver(), listener);
  }

  /** Delivers due messages. @returns the number of attempts. */
  async deliverDue(): Promise<number> {
    let tried = 0;
    for (;;) {
      const messages = await this.#take();
      await Promise.all(messages.map((message) => this.#deliver(message)));
      tried += messages.length;
      if (messages.length < AT_ONCE) return tried;
    }
  }

  /** Reads first, so that nothing is written while no message is due. */
  async #lookAndDeliver(): Promise<void> {
    const waiting = this.#database.tables<JobTables>().selectFrom('outbox').select('message_no');
    const due = waiting.where('status', '=', 'waiting').where(isDue(this.#options.clock(), LONGEST_PAUSE_MS));
    if ((await due.limit(1).execute()).length > 0) await this.deliverDue();
  }

  /** Takes due messages, which no other process delivers at the same time. */
  #take(): Promise<(Message & { attempts: number })[]> {
    const now = this.#options.clock();
    return this.#database.write(async (transaction) => {
      const tables = transaction.tables<JobTables>();
      const waiting = tables.selectFrom('outbox').where('status', '=', 'waiting');
      const due = waiting.where(isDue(now, LONGEST_PAUSE_MS)).orderBy('due_at').limit(AT_ONCE);
      const columns = ['message_id', 'kind', 'payload', 'attempts'] as const;
      const rows = await due.select(columns).modifyEnd(transaction.sql.lockedByNobody).execute();
      const ids = rows.map(({ message_id }) => message_id);
      const leased = { due_at: new Date(now.getTime() + LEASE_MS).toISOString(), attempts: sql<number>`attempts + 1` };
      await tables.updateTable('outbox').set(leased).where(transaction.sql.isAmong('message_id', ids)).execute();
      return rows.map(({ payload, attempts, ...row }) => ({
        ...row,
        payload: JSON.parse(payload) as Json,
        attempts: attempts + 1,
      }));
    });
  }

  async #deliver({ attempts, ...message }: Message & { attempts: number }): Promise<void> {
    try {
      const deliver = this.#options.deliveries.get(message.kind);
      if (deliver === undefined) throw new Error(`no delivery exists for messages of the kind ${message.kind}`);
      await deliver(message);
      await this.#end(message, { status: 'delivered', attempts, last_error: null });
    } catch (error) {
      if (attempts >= ATTEMPTS || error instanceof Undeliverable)
        await this.#end(message, { status: 'dead', attempts, last_error: messageOf(error) });
      else await this.#postpone(message, attempts, messageOf(error));
    }
  }

  #end(message: Message, { last_error, ...standing }: Standing & { last_error: string | null }): Promise<unknown> {
    const ended_at = this.#options.clock().toISOString();
    return this.#update(message, standing, { status: standing.status, last_error, ended_at });
  }

  /** Random jitter, so that messages that failed together are not retried together. */
  #postpone(message: Message, attempts: number, last_error: string): Promise<unknown> {
    const { clock, random = Math.random } = this.#options;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
    const due = new Date(clock().getTime() + longest * (0.5 + random() / 2));
    return this.#update(message, { status: 'waiting', attempts }, { due_at: due.toISOString(), last_error });
  }

  #update({ message_id, kind }: Message, standing: Standing, change: Partial<JobTables['outbox']>): Promise<unknown> {
    return this.#database.write(async (transaction) => {
      const outbox = transaction
        .tables<JobTables>()
        .updateTable('outbox')
        .set(change as object);
      const waiting = outbox.where('message_id', '=', message_id).where('status', '=', 'waiting');
      const { numUpdatedRows } = await waiting.executeTakeFirstOrThrow();
      if (numUpdatedRows === 1n) await this.#options.notes?.get(kind)?.(transaction, message_id, standing);
    });
  }
}
