import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';
import type { PageQuery } from '../http/fields.ts';
import { sortedPage } from '../http/newest-first.ts';
import { rowChanger, rowFinder } from '../rows.ts';
import type { TimestampAuthority } from '../timestamp/exchange.ts';
import {
  checkpointsOf,
  checkpointToWire,
  grownStreams,
  type PendingCheckpoint,
  pendingCheckpoints,
} from './checkpoint-rows.ts';
import { lockHead, moveHeads, type StreamHead } from './head-rows.ts';
import type { CheckpointRow, RowSeals } from './sealed-rows.ts';
import { findStream } from './streams.ts';
import { AUDIT_TABLES, type AuditTables } from './tables.ts';
import type { WireCheckpoint } from './wire.ts';

/** Reports to the operator why an anchor is still pending. */
export type AnchorFailed = (error: unknown, checkpointId: string | null) => void;

const checkpointRow = rowFinder(AUDIT_TABLES, 'checkpoints', 'ordinal');
const changeCheckpoint = rowChanger(AUDIT_TABLES, 'checkpoints', 'ordinal');

interface CheckpointDeps {
  database: Database;
  seals: RowSeals;
  authority: TimestampAuthority;
  clock: () => Date;
  onFailure: AnchorFailed;
}

/**
 * Checkpoints: the head of a stream at one moment, with a timestamp over the head's hash. A checkpoint is recorded
 * first and anchored afterwards, so that an authority that does not answer only delays the anchor.
 */
export class Checkpoints {
  readonly #deps: CheckpointDeps;
  #retrying: Promise<void> | null = null;

  constructor(deps: CheckpointDeps) {
    this.#deps = deps;
  }

  /**
   * Records the head of a stream as a checkpoint and has it timestamped. Returns the existing checkpoint if the head
   * already has one of this authority.
   * @throws DomainError `not_found`; `stream_damaged` if this service did not write the head.
   */
  async create(streamId: string): Promise<{ checkpoint: WireCheckpoint; repeated: boolean }> {
    const { seals } = this.#deps;
    const { row, repeated } = await this.#ofHead(streamId);
    if (row.status === 'anchored') return { checkpoint: checkpointToWire(row, streamId, seals), repeated };
    const outcome = await this.#anchor({ ...row, stream_id: streamId });
    // The authority answers, so other pending checkpoints are retried in the background.
    if (outcome?.status === 'anchored') void this.retryPending();
    return { checkpoint: checkpointToWire(outcome ?? row, streamId, seals), repeated };
  }

  /**
   * Records checkpoints for the heads that have none of this authority, and has them timestamped. Reports a head that
   * cannot be recorded, and continues with the others.
   */
  async createWhereGrown(): Promise<void> {
    const { database, authority, onFailure } = this.#deps;
    for await (const streams of grownStreams(database, authority.kind))
      for (const { stream_id } of streams)
        await this.#ofHead(stream_id).catch((error: unknown) => onFailure(error, null));
    await this.retryPending();
  }

  /** @throws DomainError `not_found`. */
  async list(streamId: string, query: PageQuery) {
    const { database, seals } = this.#deps;
    const { stream_no } = await findStream(database, streamId);
    const sorting = { list: 'checkpoints', by: { number: 'number' }, direction: 'asc' } as const;
    const { page, next_cursor } = await sortedPage(checkpointsOf(database, stream_no), sorting, query);
    return { data: page.map((row) => checkpointToWire(row, streamId, seals)), next_cursor };
  }

  /**
   * Anchors pending checkpoints, oldest first, until the authority fails again. Covers only checkpoints meant for this
   * kind of authority: a development timestamp must not replace an external one.
   */
  retryPending(): Promise<void> {
    this.#retrying ??= this.#retry()
      .catch((error: unknown) => this.#deps.onFailure(error, null))
      .finally(() => {
        this.#retrying = null;
      });
    return this.#retrying;
  }

  /** Resolves when no retry is running. */
  async settled(): Promise<void> {
    await this.#retrying;
  }

  async #retry(): Promise<void> {
    const { database, authority } = this.#deps;
    for await (const rows of pendingCheckpoints(database, authority.kind))
      for (const row of rows) if ((await this.#anchor(row)) === null) return;
  }

  /** Returns the checkpoint of a stream's head; records one if there is none. */
  #ofHead(streamId: string): Promise<{ row: CheckpointRow; repeated: boolean }> {
    return this.#withHead(streamId, async (head, transaction) => {
      const last = await this.#lastOf(head, transaction);
      return last === null
        ? { row: await this.#record(head, transaction), repeated: false }
        : { row: last, repeated: true };
    });
  }

  /** Returns the checkpoint of the current head; null if there is none. */
  async #lastOf(head: StreamHead, transaction: Transaction): Promise<CheckpointRow | null> {
    const { authority, seals } = this.#deps;
    const row = await checkpointsOf(transaction, head.streamNo ?? 0)
      .where('number', '=', head.checkpoints)
      .executeTakeFirst();
    const isIt = row?.sequence === head.sequence && row.authority === authority.kind;
    return row !== undefined && isIt && row.seal === seals.checkpoint(row, head.streamId) ? row : null;
  }

  async #record(head: StreamHead, transaction: Transaction): Promise<CheckpointRow> {
    const { authority, seals, clock } = this.#deps;
    head.checkpoints++;
    const row = {
      checkpoint_id: randomUUID(),
      number: head.checkpoints,
      sequence: head.sequence,
      hash: head.hash ?? '',
      created_at: clock().toISOString(),
      status: 'pending' as const,
      authority: authority.kind,
      tsa_url: authority.url,
      gen_time: null,
      token: null,
      anchored_as: null,
    };
    const stored = await transaction
      .tables<AuditTables>()
      .insertInto('checkpoints')
      .values({ ...row, stream_no: head.streamNo ?? 0, seal: seals.checkpoint(row, head.streamId) })
      .returningAll()
      .executeTakeFirstOrThrow();
    await moveHeads(transaction, seals, [head]);
    return stored;
  }

  /** Returns the anchored checkpoint; null if the authority failed. */
  async #anchor(row: PendingCheckpoint): Promise<CheckpointRow | null> {
    const { authority, seals, onFailure } = this.#deps;
    if (row.seal !== seals.checkpoint(row, row.stream_id)) {
      onFailure(new Error('the checkpoint was changed outside the service'), row.checkpoint_id);
      return row;
    }
    const stamped = await authority.stamp(row.hash).catch((error: unknown) => {
      onFailure(error, row.checkpoint_id);
      return null;
    });
    if (stamped === null) return null;
    try {
      return await this.#withHead(row.stream_id, (head, transaction) => this.#stamp(row, stamped, head, transaction));
    } catch (error) {
      onFailure(error, row.checkpoint_id);
      return row;
    }
  }

  async #stamp(
    row: PendingCheckpoint,
    { token, genTime }: Awaited<ReturnType<TimestampAuthority['stamp']>>,
    head: StreamHead,
    transaction: Transaction,
  ): Promise<CheckpointRow> {
    const { authority, seals } = this.#deps;
    const there = await checkpointRow(transaction, row.ordinal);
    // Another process may have anchored the checkpoint in the meantime.
    if (there.status === 'anchored' || there.seal !== row.seal) return there;
    head.anchored++;
    const anchor = {
      status: 'anchored' as const,
      authority: authority.kind,
      tsa_url: authority.url,
      gen_time: genTime.toISOString(),
      token,
      anchored_as: head.anchored,
    };
    const seal = seals.checkpoint({ ...there, ...anchor }, head.streamId);
    await changeCheckpoint(transaction, row, { ...anchor, seal });
    await moveHeads(transaction, seals, [head]);
    return { ...there, ...anchor, seal };
  }

  /** @throws DomainError `not_found`, `stream_damaged`. */
  #withHead<T>(streamId: string, work: (head: StreamHead, transaction: Transaction) => Promise<T>): Promise<T> {
    const { database, seals, clock } = this.#deps;
    return database.write(async (transaction) =>
      work(await lockHead(transaction, seals, streamId, clock()), transaction),
    );
  }
}
