import { randomUUID } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { WireCheckpoint } from '../../core/wire.ts';
import type { Database } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { fromCursor, toCursor } from '../http/cursor.ts';
import type { PageQuery } from '../http/fields.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import type { StreamName } from './pages.ts';

import type { AuditTables } from './schema.ts';
import { findStream } from './streams.ts';

type CheckpointRow = Selectable<AuditTables['checkpoints']>;

/** Tells the operator why an anchor is still pending. */
export type AnchorFailed = (error: unknown, checkpointId: string | null) => void;

/** Checkpoints retried in one go. */
const RETRY_LIMIT = 100;

/**
 * Checkpoints: the head of a stream at a moment, with a time stamp over its hash. A checkpoint is recorded first and
 * anchored afterwards, so that an authority that does not answer delays the anchor and loses nothing.
 */
export class Checkpoints {
  readonly #database: Database;
  readonly #authority: TimestampAuthority;
  readonly #clock: () => Date;
  readonly #onFailure: AnchorFailed;
  #retrying: Promise<void> | null = null;

  constructor(database: Database, authority: TimestampAuthority, clock: () => Date, onFailure: AnchorFailed) {
    this.#database = database;
    this.#authority = authority;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /**
   * Records the head of a stream and has it time-stamped.
   * @throws DomainError `not_found`; `stream_empty` for a stream without entries.
   */
  async create(streamId: string): Promise<WireCheckpoint> {
    const { stream_no, head_sequence, head_hash } = await findStream(this.#database, streamId);
    if (head_hash === null) throw new DomainError('stream_empty', 'the stream has no entry to anchor');
    const row = await this.#write((tables) =>
      tables
        .insertInto('checkpoints')
        .values({
          checkpoint_id: randomUUID(),
          stream_no,
          sequence: head_sequence,
          hash: head_hash,
          created_at: this.#clock().toISOString(),
          status: 'pending',
          authority: this.#authority.kind,
          tsa_url: this.#authority.url,
          gen_time: null,
          token: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
    const outcome = await this.#anchor(row);
    // Now that the authority answers, others may be anchored too; nobody needs to wait for that.
    if (outcome.status === 'anchored') void this.retryPending();
    return checkpointToWire(outcome, streamId);
  }

  /** @throws DomainError `not_found`. */
  async list(streamId: string, { limit, cursor }: PageQuery) {
    const { stream_no } = await findStream(this.#database, streamId);
    let query = this.#of(stream_no).limit(limit + 1);
    if (cursor !== undefined) query = query.where('ordinal', '>', fromCursor('checkpoints', ['number'], cursor)[0]);
    const rows = await query.execute();
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      data: shown.map((row) => checkpointToWire(row, streamId)),
      next_cursor: rows.length > limit && last ? toCursor('checkpoints', [last.ordinal]) : null,
    };
  }

  /** The checkpoints of a stream within a range of sequence numbers. */
  async within(
    { stream_no, stream_id }: StreamName,
    range: { first: number; last: number },
  ): Promise<WireCheckpoint[]> {
    const rows = await this.#of(stream_no)
      .where('sequence', '>=', range.first)
      .where('sequence', '<=', range.last)
      .execute();
    return rows.map((row) => checkpointToWire(row, stream_id));
  }

  /**
   * Anchors what could not be anchored before, oldest first, until the authority fails again. Only what was meant for
   * this kind of authority: a development time stamp must not take the place of an external one.
   */
  retryPending(): Promise<void> {
    this.#retrying ??= this.#retry()
      .catch((error: unknown) => this.#onFailure(error, null))
      .finally(() => {
        this.#retrying = null;
      });
    return this.#retrying;
  }

  /** Resolves when no retry is under way. */
  async settled(): Promise<void> {
    await this.#retrying;
  }

  async #retry(): Promise<void> {
    const rows = await this.#database
      .tables<AuditTables>()
      .selectFrom('checkpoints')
      .selectAll()
      .where('status', '=', 'pending')
      .where('authority', '=', this.#authority.kind)
      .orderBy('ordinal')
      .limit(RETRY_LIMIT)
      .execute();
    for (const row of rows) if ((await this.#anchor(row)).status === 'pending') return;
  }

  async #anchor(row: CheckpointRow): Promise<CheckpointRow> {
    const { kind: authority, url: tsa_url } = this.#authority;
    try {
      const { token, genTime } = await this.#authority.stamp(row.hash);
      const anchor = { status: 'anchored' as const, authority, tsa_url, gen_time: genTime.toISOString(), token };
      return await this.#write(async (tables) => {
        const mine = tables.updateTable('checkpoints').set(anchor).where('ordinal', '=', row.ordinal);
        const stored = await mine.where('status', '=', 'pending').returningAll().executeTakeFirst();
        // Somebody else may have anchored it in the meantime.
        const there = tables.selectFrom('checkpoints').selectAll().where('ordinal', '=', row.ordinal);
        return stored ?? there.executeTakeFirstOrThrow();
      });
    } catch (error) {
      this.#onFailure(error, row.checkpoint_id);
      return row;
    }
  }

  /** The checkpoints of a stream, oldest first. */
  #of(streamNo: number) {
    const checkpoints = this.#database.tables<AuditTables>().selectFrom('checkpoints').selectAll();
    return checkpoints.where('stream_no', '=', streamNo).orderBy('ordinal');
  }

  #write<T>(work: (tables: Kysely<AuditTables>) => Promise<T>): Promise<T> {
    return this.#database.write((transaction) => work(transaction.tables()));
  }
}

function checkpointToWire(row: CheckpointRow, streamId: string): WireCheckpoint {
  return {
    checkpoint_id: row.checkpoint_id,
    stream_id: streamId,
    sequence: row.sequence,
    hash: row.hash,
    created_at: row.created_at,
    anchor: {
      status: row.status,
      authority: row.authority,
      tsa_url: row.tsa_url,
      gen_time: row.gen_time,
      token: row.token === null ? null : Buffer.from(row.token).toString('base64'),
    },
  };
}
