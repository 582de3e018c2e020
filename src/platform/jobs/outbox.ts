import { randomUUID } from 'node:crypto';
import { type Generated, sql } from 'kysely';
import { messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { fromCursor, pageOf, toCursor } from '../http/cursor.ts';

export interface OutboxTables {
  outbox: {
    message_no: Generated<number>;
    message_id: string;
    kind: string;
    /** JSON, for who delivers this kind. */
    payload: string;
    created_at: string;
    status: 'waiting' | 'delivered' | 'dead';
    attempts: number;
    /** When it is delivered next; while it is under way, when whoever does it must be gone. */
    due_at: string;
    ended_at: string | null;
    last_error: string | null;
  };
}

/** What is to be delivered. Its id goes with it: a receiver that got it twice knows by it. */
export interface Message {
  message_id: string;
  kind: string;
  payload: Json;
}

/** Delivers a message. @throws whatever is wrong, in words for a person: it is tried again. */
export type Deliver = (message: Message) => Promise<void>;

export interface OutboxOptions {
  clock: () => Date;
  /** By kind. */
  deliveries: ReadonlyMap<string, Deliver>;
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
 * What services send to others: put in by the transaction of what was done, delivered afterwards, tried again with longer
 * and longer pauses, and in the end kept for a person. Several processes deliver from one outbox, each message by one of
 * them at a time.
 */
export class Outbox {
  readonly #database: Database;
  readonly #options: OutboxOptions;

  constructor(database: Database, options: OutboxOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Puts a message in. @returns its id. */
  async add(transaction: Transaction, kind: string, payload: Json): Promise<string> {
    const now = this.#options.clock().toISOString();
    const message_id = randomUUID();
    await transaction
      .tables<OutboxTables>()
      .insertInto('outbox')
      .values({
        ...{ message_id, kind, payload: JSON.stringify(payload), created_at: now, due_at: now },
        ...{ status: 'waiting', attempts: 0, ended_at: null, last_error: null },
      })
      .execute();
    return message_id;
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

  /** Messages that nobody tries any more, newest first. */
  async dead({ limit, cursor }: { limit: number; cursor?: string | undefined }) {
    let query = this.#database
      .tables<OutboxTables>()
      .selectFrom('outbox')
      .select(['message_no', 'message_id', 'kind', 'created_at', 'attempts', 'ended_at', 'last_error'])
      .where('status', '=', 'dead')
      .orderBy('message_no', 'desc')
      .limit(limit + 1);
    if (cursor !== undefined) query = query.where('message_no', '<', fromCursor('dead', ['number'], cursor)[0]);
    const rows = await query.execute();
    const { shown, next_cursor } = pageOf(rows, limit, (last) => toCursor('dead', [last.message_no]));
    return { data: shown.map(({ message_no: _, ...message }) => message), next_cursor };
  }

  /** Has a dead message delivered again, from the first attempt on. @throws DomainError `not_found`. */
  async replay(messageId: string): Promise<void> {
    const now = this.#options.clock().toISOString();
    await this.#database.write(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .tables<OutboxTables>()
        .updateTable('outbox')
        .set({ status: 'waiting', attempts: 0, due_at: now, ended_at: null })
        .where('message_id', '=', messageId)
        .where('status', '=', 'dead')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new DomainError('not_found', 'no message that was given up has this id');
    });
  }

  /** Messages that are due, which nobody else takes while they are delivered. */
  #take(): Promise<(Message & { attempts: number })[]> {
    const now = this.#options.clock();
    return this.#database.write(async (transaction) => {
      const tables = transaction.tables<OutboxTables>();
      const rows = await tables
        .selectFrom('outbox')
        .select(['message_id', 'kind', 'payload', 'attempts'])
        .where('status', '=', 'waiting')
        .where('due_at', '<=', now.toISOString())
        .orderBy('due_at')
        .limit(AT_ONCE)
        .modifyEnd(transaction.words.lockedByNobody)
        .execute();
      const ids = rows.map(({ message_id }) => message_id);
      await tables
        .updateTable('outbox')
        .set({ due_at: new Date(now.getTime() + LEASE_MS).toISOString(), attempts: sql`attempts + 1` })
        .where(transaction.words.isAmong('message_id', ids))
        .execute();
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
      await this.#end(message, { status: 'delivered', last_error: null });
    } catch (error) {
      if (attempts >= ATTEMPTS) await this.#end(message, { status: 'dead', last_error: messageOf(error) });
      else await this.#postpone(message, attempts, messageOf(error));
    }
  }

  #end({ message_id }: Message, end: { status: 'delivered' | 'dead'; last_error: string | null }): Promise<unknown> {
    return this.#update(message_id, { ...end, ended_at: this.#options.clock().toISOString() });
  }

  /** Full jitter, so that what failed together is not tried again together. */
  #postpone({ message_id }: Message, attempts: number, last_error: string): Promise<unknown> {
    const { clock, random = Math.random } = this.#options;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
    const due = new Date(clock().getTime() + longest * (0.5 + random() / 2));
    return this.#update(message_id, { due_at: due.toISOString(), last_error });
  }

  #update(messageId: string, change: Partial<OutboxTables['outbox']>): Promise<unknown> {
    return this.#database.write((transaction) =>
      transaction
        .tables<OutboxTables>()
        .updateTable('outbox')
        .set(change as object)
        .where('message_id', '=', messageId)
        .where('status', '=', 'waiting')
        .execute(),
    );
  }
}
