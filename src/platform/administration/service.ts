import type { Administration } from '../accounts/api.ts';
import { ADMINISTRATION_STREAM } from '../accounts/api.ts';
import type { AuditLog } from '../audit/api.ts';
import type { Database } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { fromCursor, pageOf, toCursor } from '../http/cursor.ts';
import type { PageQuery } from '../http/fields.ts';
import type { Actor } from '../http/principal.ts';
import type { Outbox } from '../jobs/outbox.ts';

export interface AdministrationDeps {
  database: Database;
  log: AuditLog;
  administration: Administration;
  outbox: Outbox;
}

/** Record of administrative acts, and of failed deliveries. */
export class AdministrationService {
  readonly #deps: AdministrationDeps;

  constructor(deps: AdministrationDeps) {
    this.#deps = deps;
  }

  /** Lists administrative acts, newest first. */
  async acts({ limit, cursor }: PageQuery) {
    const { database, log } = this.#deps;
    const before = cursor === undefined ? undefined : fromCursor('acts', ['number'], cursor)[0];
    const acts = await log.newest(database, ADMINISTRATION_STREAM, { limit: limit + 1, before });
    const { page, next_cursor } = pageOf(acts, limit, (last) => toCursor('acts', [last.sequence]));
    return { data: page, next_cursor };
  }

  /** Lists messages whose delivery was given up, newest first. */
  async deadLetters(page: PageQuery) {
    const { data, next_cursor } = await this.#deps.outbox.dead(page);
    const shown = ['message_id', 'kind', 'created_at', 'attempts', 'ended_at', 'last_error'] as const;
    return {
      data: data.map((row) => ({ ...pick(row, shown), alert_channel_id: channelIn(row.payload) })),
      next_cursor,
    };
  }

  /** Queues a message again, with its attempts reset. @throws DomainError `not_found`. */
  replay(actor: Actor, messageId: string): Promise<{ message_id: string }> {
    const { database, outbox, administration } = this.#deps;
    return database.write(async (transaction) => {
      await outbox.replay(transaction, messageId);
      await administration.record(transaction, { actor, action: 'message.replayed', of: ['message', messageId] });
      return { message_id: messageId };
    });
  }
}

/** Returns the id of the channel to which an alert goes; null for other messages. */
function channelIn(payload: string): string | null {
  const { alert_channel_id: id } = JSON.parse(payload) as { alert_channel_id?: unknown };
  return typeof id === 'string' ? id : null;
}
