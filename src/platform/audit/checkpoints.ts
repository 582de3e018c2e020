import { randomUUID } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { WireCheckpoint } from '../../core/wire.ts';
import { HttpProblem } from '../http/problem.ts';
import type { Tables } from '../store/schema.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import { fromCursor, toCursor } from './cursor.ts';
import type { PageQuery } from './requests.ts';

type CheckpointRow = Selectable<Tables['checkpoints']>;

/** Tells the operator why an anchor is still pending. */
export type AnchorFailed = (error: unknown, checkpointId: string | null) => void;

/** Checkpoints retried in one go. */
const RETRY_LIMIT = 100;

/**
 * Checkpoints: the head of a stream at a moment, with a time stamp over its hash. A checkpoint is recorded first and
 * anchored afterwards, so that an authority that does not answer delays the anchor and loses nothing.
 */
export class Checkpoints {
  readonly #db: Kysely<Tables>;
  readonly #authority: TimestampAuthority;
  readonly #clock: () => Date;
  readonly #onFailure: AnchorFailed;
  #retrying: Promise<void> | null = null;

  constructor(db: Kysely<Tables>, authority: TimestampAuthority, clock: () => Date, onFailure: AnchorFailed) {
    this.#db = db;
    this.#authority = authority;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /**
   * Records the head of a stream and has it time-stamped.
   * @throws Problem 404 for a stream that does not exist, 409 `stream_empty` for one without entries.
   */
  async create(streamId: string): Promise<WireCheckpoint> {
    const stream = await this.#db
      .selectFrom('streams')
      .select(['head_sequence', 'head_hash'])
      .where('stream_id', '=', streamId)
      .executeTakeFirst();
    if (stream === undefined) throw unknownStream();
    if (stream.head_hash === null) throw new HttpProblem(409, 'stream_empty', 'the stream has no entry to anchor');
    const row = await this.#db
      .insertInto('checkpoints')
      .values({
        checkpoint_id: randomUUID(),
        stream_id: streamId,
        sequence: stream.head_sequence,
        hash: stream.head_hash,
        created_at: this.#clock().toISOString(),
        status: 'pending',
        authority: this.#authority.kind,
        tsa_url: this.#authority.url,
        gen_time: null,
        token: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const outcome = await this.#anchor(row);
    // Now that the authority answers, others may be anchored too; nobody needs to wait for that.
    if (outcome.status === 'anchored') void this.retryPending();
    return checkpointToWire(outcome);
  }

  /** @throws Problem 404 for a stream that does not exist. */
  async list(streamId: string, { limit, cursor }: PageQuery) {
    await this.#requireStream(streamId);
    let query = this.#db
      .selectFrom('checkpoints')
      .selectAll()
      .where('stream_id', '=', streamId)
      .orderBy('ordinal')
      .limit(limit + 1);
    if (cursor !== undefined) query = query.where('ordinal', '>', fromCursor('checkpoints', ['number'], cursor)[0]);
    const rows = await query.execute();
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      data: shown.map(checkpointToWire),
      next_cursor: rows.length > limit && last ? toCursor('checkpoints', [last.ordinal]) : null,
    };
  }

  /** The checkpoints of a stream within a range of sequence numbers. */
  async within(streamId: string, first: number, last: number): Promise<WireCheckpoint[]> {
    const rows = await this.#db
      .selectFrom('checkpoints')
      .selectAll()
      .where('stream_id', '=', streamId)
      .where('sequence', '>=', first)
      .where('sequence', '<=', last)
      .orderBy('ordinal')
      .execute();
    return rows.map(checkpointToWire);
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
    const rows = await this.#db
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
      const stored = await this.#db
        .updateTable('checkpoints')
        .set(anchor)
        .where('ordinal', '=', row.ordinal)
        .where('status', '=', 'pending')
        .returningAll()
        .executeTakeFirst();
      return stored ?? (await this.#reread(row.ordinal));
    } catch (error) {
      this.#onFailure(error, row.checkpoint_id);
      return row;
    }
  }

  /** Somebody else anchored it in the meantime. */
  #reread(ordinal: number): Promise<CheckpointRow> {
    return this.#db.selectFrom('checkpoints').selectAll().where('ordinal', '=', ordinal).executeTakeFirstOrThrow();
  }

  async #requireStream(streamId: string): Promise<void> {
    const query = this.#db.selectFrom('streams').select('stream_id').where('stream_id', '=', streamId);
    if ((await query.executeTakeFirst()) === undefined) throw unknownStream();
  }
}

function unknownStream(): HttpProblem {
  return new HttpProblem(404, 'not_found', 'there is no stream of this id');
}

function checkpointToWire(row: CheckpointRow): WireCheckpoint {
  return {
    checkpoint_id: row.checkpoint_id,
    stream_id: row.stream_id,
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
