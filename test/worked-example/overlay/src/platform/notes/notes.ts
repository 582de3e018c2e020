import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { fromCursor, pageOf, toCursor } from '../http/cursor.ts';
import type { PageQuery } from '../http/fields.ts';
import type { Actor } from '../http/principal.ts';
import type { NoteTables } from './tables.ts';
import type { WireNote } from './wire.ts';

const KEPT_MS = 90 * 24 * 60 * 60_000;

/** Notes that people leave for each other. */
export class Notes {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  add({ name }: Actor, { text }: { text: string }): Promise<WireNote> {
    const note = { note_id: randomUUID(), text, written_by: name, written_at: this.#clock().toISOString() };
    return this.#database.write(async (transaction) => {
      await transaction.tables<NoteTables>().insertInto('notes').values(note).execute();
      return note;
    });
  }

  /** Returns notes, newest first. */
  async list({ limit, cursor }: PageQuery): Promise<{ data: WireNote[]; next_cursor: string | null }> {
    let query = this.#database.tables<NoteTables>().selectFrom('notes').selectAll().orderBy('note_no', 'desc');
    if (cursor !== undefined) query = query.where('note_no', '<', fromCursor('notes', ['number'], cursor)[0]);
    const rows = await query.limit(limit + 1).execute();
    const { page, next_cursor } = pageOf(rows, limit, ({ note_no }) => toCursor('notes', [note_no]));
    return { data: page.map(toWire), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(noteId: string): Promise<WireNote> {
    const notes = this.#database.tables<NoteTables>().selectFrom('notes').selectAll();
    const row = await notes.where('note_id', '=', noteId).executeTakeFirst();
    if (row === undefined) throw new DomainError('not_found', 'there is no note of this id');
    return toWire(row);
  }

  /** @throws DomainError `not_found`. */
  async remove(noteId: string): Promise<WireNote> {
    const note = await this.find(noteId);
    await this.#database.write((transaction) =>
      transaction.tables<NoteTables>().deleteFrom('notes').where('note_id', '=', noteId).execute(),
    );
    return note;
  }

  /** Removes notes that are too old. */
  async tidy(): Promise<void> {
    const oldest = new Date(this.#clock().getTime() - KEPT_MS).toISOString();
    await this.#database.write((transaction) =>
      transaction.tables<NoteTables>().deleteFrom('notes').where('written_at', '<', oldest).execute(),
    );
  }
}

function toWire({ note_id, text, written_by, written_at }: Selectable<NoteTables['notes']>): WireNote {
  return { note_id, text, written_by, written_at };
}
