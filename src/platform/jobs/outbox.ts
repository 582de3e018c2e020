import { randomUUID } from 'node:crypto';
import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { newestFirst } from '../http/newest-first.ts';
import { type Job, tidyJob } from './scheduler.ts';
import type { JobTables } from './tables.ts';

/** Message to deliver. The id is sent along, so that receivers recognize duplicates. */
export interface Message {
  message_id: string;
  kind: string;
  payload: Json;
}

/**
 * Messages from services to others: added in the transaction of the act, and delivered afterwards (`delivery.ts`).
 * Undeliverable messages are kept for a person.
 */
export class Outbox {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Adds a message. @returns its id. */
  async add(transaction: Transaction, kind: string, payload: Json): Promise<string> {
    const now = this.#clock().toISOString();
    const message_id = randomUUID();
    const message = { message_id, kind, payload: JSON.stringify(payload), created_at: now, due_at: now };
    const outbox = transaction.tables<JobTables>().insertInto('outbox');
    await outbox.values({ ...message, status: 'waiting', attempts: 0, ended_at: null, last_error: null }).execute();
    return message_id;
  }

  /** Returns the state of a message, and the error of its last attempt. */
  standing(messageId: string) {
    const outbox = this.#database.tables<JobTables>().selectFrom('outbox').select(['status', 'last_error']);
    return outbox.where('message_id', '=', messageId).executeTakeFirstOrThrow();
  }

  /** Returns messages that were given up, newest first. */
  async dead(query: PageQuery) {
    const outbox = this.#database.tables<JobTables>().selectFrom('outbox').where('status', '=', 'dead');
    const names = ['message_id', 'kind', 'payload', 'created_at', 'attempts', 'ended_at', 'last_error'] as const;
    const numbered = { list: 'dead', table: 'outbox', number: 'message_no' } as const;
    const { page, next_cursor } = await newestFirst(outbox.select(['message_no', ...names]), numbered, query);
    return { data: page.map((row) => pick(row, names)), next_cursor };
  }

  /** Queues a dead message again, with its attempts reset. @throws DomainError `not_found`. */
  async replay(transaction: Transaction, messageId: string): Promise<void> {
    const again = { status: 'waiting', attempts: 0, due_at: this.#clock().toISOString(), ended_at: null } as const;
    const outbox = transaction.tables<JobTables>().updateTable('outbox').set(again);
    const dead = outbox.where('message_id', '=', messageId).where('status', '=', 'dead');
    const { numUpdatedRows } = await dead.executeTakeFirst();
    if (numUpdatedRows === 0n) throw new DomainError('not_found', 'no undeliverable message has this ID');
  }
}

/** Time for which delivered messages are kept. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/** Returns the job that deletes messages delivered long ago. */
export function outboxTidyJob(database: Database, clock: () => Date): Job {
  return tidyJob('outbox/tidy', database, (transaction) => {
    const kept = new Date(clock().getTime() - KEPT_MS).toISOString();
    const delivered = transaction.tables<JobTables>().deleteFrom('outbox').where('status', '=', 'delivered');
    return delivered.where('ended_at', '<', kept).execute();
  });
}
