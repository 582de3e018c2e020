import { randomUUID } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { GENESIS, type WireVerification } from '../../core/wire.ts';
import { HttpProblem } from '../http/problem.ts';
import type { EntryRow, StreamRow } from '../store/schema.ts';
import { inTransaction } from '../store/sqlite.ts';
import { hashEntry, sealHash } from './rules.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import type { EntryPages } from './store.ts';

type Failure = WireVerification['failures'][number];

/** Failures told one by one; a stream that was rewritten as a whole has one per entry. */
const MAX_FAILURES = 1000;

interface Anchored {
  sequence: number;
  hash: string;
}

/** What the walk is held against, taken at one moment. */
interface Expected {
  stream: StreamRow;
  checkpoints: Anchored[];
}

/**
 * Checks a stream from its first entry to its head: every hash and seal recomputed, every link, the head that the
 * stream states, and the hashes that its checkpoints state. Records the outcome with the stream.
 */
export class Verifier {
  readonly #database: DatabaseSync;
  readonly #pages: EntryPages;
  readonly #keys: DerivedSealKeys;
  readonly #clock: () => Date;
  readonly #stream: StatementSync;
  readonly #checkpoints: StatementSync;
  readonly #last: StatementSync;
  readonly #record: StatementSync;

  constructor(database: DatabaseSync, pages: EntryPages, keys: DerivedSealKeys, clock: () => Date) {
    this.#database = database;
    this.#pages = pages;
    this.#keys = keys;
    this.#clock = clock;
    this.#stream = database.prepare('SELECT * FROM streams WHERE stream_id = ?');
    this.#checkpoints = database.prepare(
      'SELECT DISTINCT sequence, hash FROM checkpoints WHERE stream_id = ? ORDER BY sequence',
    );
    this.#last = database.prepare('SELECT max(sequence) AS last FROM entries WHERE stream_id = ?');
    this.#record = database.prepare(
      `UPDATE streams SET verified = ?, verification_status = ?, last_checked_at = ?, verified_through_sequence = ?
       WHERE stream_id = ?`,
    );
  }

  /** @throws Problem 404 for a stream that does not exist. */
  async verify(streamId: string): Promise<WireVerification> {
    const { stream, checkpoints, last } = this.#snapshot(streamId);
    const walk = new Walk(this.#keys, { stream, checkpoints });
    for await (const page of this.#pages.between(streamId, 1, last)) for (const entry of page) walk.step(entry);
    const failures = walk.finish();
    const verified = failures.length === 0;
    const checkedAt = this.#clock().toISOString();
    this.#record.run(Number(verified), verified ? 'verified' : 'failed', checkedAt, walk.soundThrough, streamId);
    return {
      verification_id: randomUUID(),
      stream_id: streamId,
      verified,
      checked_at: checkedAt,
      entries_checked: walk.checked,
      from_sequence: walk.first,
      to_sequence: walk.last,
      head_hash: walk.head,
      failures,
    };
  }

  /** What the stream states now; entries appended while the walk goes on are not part of it. */
  #snapshot(streamId: string): Expected & { last: number } {
    return inTransaction(this.#database, () => {
      const stream = this.#stream.get(streamId) as StreamRow | undefined;
      if (stream === undefined) throw new HttpProblem(404, 'not_found', 'there is no stream of this id');
      const checkpoints = this.#checkpoints.all(streamId) as unknown as Anchored[];
      return { stream, checkpoints, last: Number(this.#last.get(streamId)?.['last'] ?? 0) };
    });
  }
}

/** One pass over the entries of a stream. */
class Walk {
  readonly #keys: DerivedSealKeys;
  readonly #stream: StreamRow;
  readonly #checkpoints: Anchored[];
  readonly #failures: Failure[] = [];
  #failureCount = 0;
  #firstFailure = Number.POSITIVE_INFINITY;
  #nextCheckpoint = 0;
  first: number | null = null;
  last: number | null = null;
  head: string | null = null;
  checked = 0;

  constructor(keys: DerivedSealKeys, { stream, checkpoints }: Expected) {
    this.#keys = keys;
    this.#stream = stream;
    this.#checkpoints = checkpoints;
  }

  /** The last sequence number up to which nothing is wrong, or null. */
  get soundThrough(): number | null {
    const sound = Math.min(this.last ?? 0, this.#firstFailure - 1);
    return sound > 0 ? sound : null;
  }

  step(entry: EntryRow): void {
    const due = (this.last ?? 0) + 1;
    if (entry.sequence > due) {
      const missing = entry.sequence - 1 === due ? `${due}` : `${due}-${entry.sequence - 1}`;
      this.#fail('sequence_gap', due, missing, `${entry.sequence}`);
    }
    this.#compareCheckpoints(entry.sequence, entry.hash);
    this.#compare('broken_link', entry.sequence, this.head ?? GENESIS, entry.prev_hash);
    this.#compare('hash_mismatch', entry.sequence, hashEntry(entry), entry.hash);
    const key = this.#keys.find(entry.stream_id, entry.seal_key_id);
    if (key === null) this.#fail('unknown_seal_key', entry.sequence, null, entry.seal_key_id);
    else this.#compare('seal_mismatch', entry.sequence, sealHash(key, entry.hash), entry.seal);
    this.first ??= entry.sequence;
    this.last = entry.sequence;
    this.head = entry.hash;
    this.checked++;
  }

  finish(): Failure[] {
    this.#compareCheckpoints(Number.POSITIVE_INFINITY, null);
    const { head_sequence: sequence, head_hash: hash, entry_count: count } = this.#stream;
    if (sequence !== (this.last ?? 0)) this.#fail('head_mismatch', sequence, `${sequence}`, `${this.last ?? 0}`);
    else this.#compare('head_mismatch', sequence, hash, this.head);
    if (count !== this.checked) this.#fail('count_mismatch', sequence, `${count}`, `${this.checked}`);
    if (this.#failureCount > this.#failures.length)
      this.#failures.push({
        code: 'more_failures',
        sequence: this.last ?? 0,
        expected: null,
        actual: `${this.#failureCount - this.#failures.length} more`,
      });
    return this.#failures;
  }

  /** Holds the checkpoints up to `sequence` against the entry there; those before it have no entry at all. */
  #compareCheckpoints(sequence: number, hash: string | null): void {
    let checkpoint = this.#checkpoints[this.#nextCheckpoint];
    while (checkpoint !== undefined && checkpoint.sequence <= sequence) {
      const actual = checkpoint.sequence === sequence ? hash : null;
      this.#compare('checkpoint_mismatch', checkpoint.sequence, checkpoint.hash, actual);
      checkpoint = this.#checkpoints[++this.#nextCheckpoint];
    }
  }

  #compare(code: string, sequence: number, expected: string | null, actual: string | null): void {
    if (expected !== actual) this.#fail(code, sequence, expected, actual);
  }

  #fail(code: string, sequence: number, expected: string | null, actual: string | null): void {
    this.#failureCount++;
    this.#firstFailure = Math.min(this.#firstFailure, sequence);
    if (this.#failures.length < MAX_FAILURES) this.#failures.push({ code, sequence, expected, actual });
  }
}
