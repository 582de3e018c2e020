import { hash, randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EvidenceError } from '../../core/errors.ts';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { GENESIS } from '../../core/wire.ts';
import type { EntryRow } from '../store/schema.ts';
import { inTransaction } from '../store/sqlite.ts';
import { Idempotency } from './idempotency.ts';
import type { NewEntry } from './requests.ts';
import { hashEntry, nextTimestamp, sealHash } from './rules.ts';
import type { DerivedSealKeys } from './seal-keys.ts';

export interface Appended {
  row: EntryRow;
  /** It was there already, under the same idempotency key. */
  repeated: boolean;
}

/** Entries that are appended together or not at all. */
export interface AppendRequest {
  entries: readonly NewEntry[];
  /** The idempotency key of the request as a whole. */
  key?: string | undefined;
}

interface Waiting {
  request: AppendRequest;
  resolve(appended: Appended[]): void;
  reject(error: unknown): void;
}

interface Head {
  sequence: number;
  hash: string;
  lastEntryAt: string | null;
}

/** Requests stop joining a commit at this many entries, so that the first of them does not wait for long. */
const MAX_COMMIT_ENTRIES = 2000;

/**
 * The one place that writes entries. Requests that arrive while others wait share a commit, each in a savepoint of
 * its own, because reaching the disk costs more than everything else. A request is acknowledged after its commit.
 */
export class Appender {
  readonly #database: DatabaseSync;
  readonly #keys: DerivedSealKeys;
  readonly #clock: () => Date;
  readonly #idempotency: Idempotency;
  readonly #statements: Statements;
  readonly #waiting: Waiting[] = [];

  constructor(database: DatabaseSync, keys: DerivedSealKeys, clock: () => Date) {
    this.#database = database;
    this.#keys = keys;
    this.#clock = clock;
    this.#idempotency = new Idempotency(database);
    this.#statements = prepare(database);
  }

  /**
   * Appends the entries of a request to the heads of their streams, in order.
   * @throws Problem 422 `idempotency_conflict`.
   */
  append(request: AppendRequest): Promise<Appended[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commit());
    });
  }

  #commit(): void {
    const group = this.#takeGroup();
    const outcomes: (() => void)[] = [];
    try {
      inTransaction(this.#database, () => {
        for (const waiting of group) outcomes.push(this.#attempt(waiting));
      });
      for (const settle of outcomes) settle();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
  }

  #takeGroup(): Waiting[] {
    let entries = 0;
    let requests = 0;
    for (const { request } of this.#waiting) {
      entries += request.entries.length;
      if (requests > 0 && entries > MAX_COMMIT_ENTRIES) break;
      requests++;
    }
    return this.#waiting.splice(0, requests);
  }

  /** Does what a request asks for and returns how to answer it once that is committed. */
  #attempt({ request, resolve, reject }: Waiting): () => void {
    this.#database.exec('SAVEPOINT request');
    try {
      const appended = this.#perform(request);
      this.#database.exec('RELEASE request');
      return () => resolve(appended);
    } catch (error) {
      // A full disk rolls everything back by itself; then there is no savepoint and the whole group failed.
      if (!this.#database.isTransaction) throw error;
      this.#database.exec('ROLLBACK TO request; RELEASE request');
      return () => reject(error);
    }
  }

  #perform({ entries, key }: AppendRequest): Appended[] {
    const now = this.#clock();
    if (key !== undefined) this.#claimRequest(key, entries, now);
    const heads = new Map<string, Head>();
    const appended = entries.map((entry, at) => this.#appendOne(entry, key && `${key}#${at}`, heads, now));
    for (const [streamId, head] of heads) this.#statements.updateHead.run(...headValues(head), streamId);
    return appended;
  }

  /** A repeated request must repeat all its entries; each of them is found under its own key then. */
  #claimRequest(key: string, entries: readonly NewEntry[], now: Date): void {
    const body = digestOf(entries.map(withoutKey));
    if (this.#idempotency.find('entries', key, body) === null)
      this.#idempotency.remember('entries', key, body, '', now.toISOString());
  }

  #appendOne(entry: NewEntry, requestKey: string | undefined, heads: Map<string, Head>, now: Date): Appended {
    const own = entry.idempotency_key;
    const scope = `${own === undefined ? 'request' : 'entry'}/${entry.stream_id}`;
    const key = own ?? requestKey;
    const body = key === undefined ? '' : digestOf(withoutKey(entry));
    const earlier = key === undefined ? null : this.#idempotency.find(scope, key, body);
    if (earlier !== null) return { row: this.#find(entry.stream_id, Number(earlier)), repeated: true };
    let head = heads.get(entry.stream_id);
    if (head === undefined) {
      head = this.#loadHead(entry.stream_id, now);
      heads.set(entry.stream_id, head);
    }
    const row = this.#seal(entry, head, now);
    this.#statements.insert.run(...entryValues(row));
    if (key !== undefined) this.#idempotency.remember(scope, key, body, String(row.sequence), row.timestamp);
    head.sequence = row.sequence;
    head.hash = row.hash;
    head.lastEntryAt = row.timestamp;
    return { row, repeated: false };
  }

  #seal(entry: NewEntry, head: Head, now: Date): EntryRow {
    const { id, key } = this.#keys.current(entry.stream_id);
    const content = {
      entry_id: randomUUID(),
      stream_id: entry.stream_id,
      sequence: head.sequence + 1,
      timestamp: nextTimestamp(now, head.lastEntryAt),
      occurred_at: entry.occurred_at ?? null,
      actor: entry.actor,
      action: entry.action,
      resource_type: entry.resource_type,
      resource_id: entry.resource_id,
      metadata: canonicalize(entry.metadata ?? {}),
      prev_hash: head.hash,
      seal_key_id: id,
    };
    const hash = hashEntry(content);
    return { ...content, hash, seal: sealHash(key, hash) };
  }

  #loadHead(streamId: string, now: Date): Head {
    const row = this.#statements.head.get(streamId);
    if (row === undefined) {
      this.#statements.createStream.run(streamId, now.toISOString());
      return { sequence: 0, hash: GENESIS, lastEntryAt: null };
    }
    return {
      sequence: Number(row['head_sequence']),
      hash: row['head_hash'] === null ? GENESIS : String(row['head_hash']),
      lastEntryAt: row['last_entry_at'] === null ? null : String(row['last_entry_at']),
    };
  }

  #find(streamId: string, sequence: number): EntryRow {
    const row = this.#statements.find.get(streamId, sequence);
    if (row === undefined)
      throw new EvidenceError('unreadable', `entry ${sequence} of a stream was recorded but is not in the database`);
    return row as unknown as EntryRow;
  }
}

const COLUMNS = [
  'entry_id',
  'stream_id',
  'sequence',
  'timestamp',
  'occurred_at',
  'actor',
  'action',
  'resource_type',
  'resource_id',
  'metadata',
  'prev_hash',
  'seal_key_id',
  'hash',
  'seal',
] as const satisfies readonly (keyof EntryRow)[];

type Statements = Record<'head' | 'createStream' | 'updateHead' | 'insert' | 'find', StatementSync>;

function prepare(database: DatabaseSync): Statements {
  return {
    head: database.prepare('SELECT head_sequence, head_hash, last_entry_at FROM streams WHERE stream_id = ?'),
    createStream: database.prepare(
      'INSERT INTO streams (stream_id, entry_count, head_sequence, created_at) VALUES (?, 0, 0, ?)',
    ),
    updateHead: database.prepare(
      `UPDATE streams SET head_sequence = ?1, entry_count = entry_count + ?1 - head_sequence, head_hash = ?2,
         last_entry_at = ?3 WHERE stream_id = ?4`,
    ),
    insert: database.prepare(`INSERT INTO entries (${COLUMNS}) VALUES (${COLUMNS.map(() => '?')})`),
    find: database.prepare(`SELECT ${COLUMNS} FROM entries WHERE stream_id = ? AND sequence = ?`),
  };
}

function entryValues(row: EntryRow): (string | number | null)[] {
  return COLUMNS.map((column) => row[column]);
}

function headValues(head: Head): [number, string, string | null] {
  return [head.sequence, head.hash, head.lastEntryAt];
}

function withoutKey({ idempotency_key: _, ...content }: NewEntry): Json {
  return content as Json;
}

function digestOf(body: Json): string {
  return hash('sha256', canonicalize(body), 'hex');
}
