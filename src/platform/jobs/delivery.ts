import { sql } from 'kysely';
import { messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { type FailureListener, keepLooking, type Looking } from './looking.ts';
import type { Message } from './outbox.ts';
import type { JobTables } from './tables.ts';

/**
 * Delivers a message. @throws whatever is wrong, in words for a person: it is tried again, unless it is Undeliverable.
 */
export type Deliver = (message: Message) => Promise<void>;

/** The state of a message after an attempt to deliver it. */
interface Standing {
  status: 'waiting' | 'delivered' | 'dead';
  attempts: number;
}

/** Notes elsewhere how a message stands, in the transaction that says so in the outbox. */
export type Note = (transaction: Transaction, messageId: string, standing: Standing) => Promise<void>;

/** By the kind of a message: its delivery, and the listener for its state. */
export type Sends = ReadonlyMap<string, { deliver: Deliver; note: Note }>;

/** Reports that nobody will ever take a message, however often it is sent. */
export class Undeliverable extends Error {}

interface DeliveryOptions {
  clock: () => Date;
  /** By kind. */
  deliveries: ReadonlyMap<string, Deliver>;
  /** By kind, where somebody wants to know. */
  notes?: ReadonlyMap<string, Note>;
  random?: () => number;
}

/** Messages taken at a time. */
const AT_ONCE = 20;

/** A delivery that took longer was by somebody who is gone. */
const LEASE_MS = 60_000;

/** After so many attempts nobody but a person tries it again. */
export const ATTEMPTS = 12;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60 * 60 * 1000;

/**
 * Delivers what is in the outbox, tried again with longer and longer pauses, and in the end given up. Several processes
 * deliver from one outbox, each message by one of them at a time.
 */
export class OutboxDelivery {
  readonly #database: Database;
  readonly #options: DeliveryOptions;

  constructor(database: Database, options: DeliveryOptions) {
    this.#database = database;
    this.#options = options;
  }

  /**
   * Begins to look for what is due.
   * @param listener is told why nothing could be looked at or written; why a message could not be delivered stands with it.
   * @returns how to end it: resolved when nothing is under way any more.
   */
  start(listener: FailureListener): Looking {
    return keepLooking(() => this.#lookAndDeliver(), listener);
  }

  /** Delivers what is due. @returns how many messages were tried. */
  async deliverDue(): Promise<number> {
    let tried = 0;
    for (;;) {
      const messages = await this.#take();
      await Promise.all(messages.map((message) => this.#deliver(message)));
      tried += messages.length;
      if (messages.length < AT_ONCE) return tried;
    }
  }

  /** Looks by reading first: nothing is written while nothing is due. */
  async #lookAndDeliver(): Promise<void> {
    const waiting = this.#database.tables<JobTables>().selectFrom('outbox').select('message_no');
    const due = waiting.where('status', '=', 'waiting').where('due_at', '<=', this.#options.clock().toISOString());
    if ((await due.limit(1).execute()).length > 0) await this.deliverDue();
  }

  /** Messages that are due, which nobody else takes while they are delivered. */
  #take(): Promise<(Message & { attempts: number })[]> {
    const now = this.#options.clock();
    return this.#database.write(async (transaction) => {
      const tables = transaction.tables<JobTables>();
      const waiting = tables.selectFrom('outbox').where('status', '=', 'waiting');
      const due = waiting.where('due_at', '<=', now.toISOString()).orderBy('due_at').limit(AT_ONCE);
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
      if (deliver === undefined) throw new Error(`nothing here delivers what is called ${message.kind}`);
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

  /** Full jitter, so that what failed together is not tried again together. */
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
