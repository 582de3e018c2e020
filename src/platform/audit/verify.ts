import { randomUUID } from 'node:crypto';
import { GENESIS, type WireVerification } from '../../core/wire.ts';
import type { Database } from '../database/database.ts';
import type { EntryPages } from './pages.ts';
import type { EntryRow } from './repository.ts';
import { hashEntry, sealHash } from './rules.ts';
import type { AuditTables } from './schema.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import { findStream, type StreamRow } from './streams.ts';

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
 * stream states, and the hashes that its checkpoints state. Records the outcome.
 */
export class Verifier {
  readonly #database: Database;
  readonly #pages: EntryPages;
  readonly #keys: DerivedSealKeys;
  readonly #clock: () => Date;

  constructor(database: Database, pages: EntryPages, keys: DerivedSealKeys, clock: () => Date) {
    this.#database = database;
    this.#pages = pages;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** @throws DomainError `not_found` for a stream that does not exist. */
  async verify(streamId: string): Promise<WireVerification> {
    const beganAt = this.#clock().toISOString();
    const { stream, checkpoints, last } = await this.#snapshot(streamId);
    const walk = new Walk(this.#keys, { stream, checkpoints });
    for await (const page of this.#pages.between(stream, 1, last)) for (const entry of page) walk.step(entry);
    const failures = walk.finish();
    const verification: WireVerification = {
      verification_id: randomUUID(),
      stream_id: streamId,
      verified: failures.length === 0,
      checked_at: this.#clock().toISOString(),
      entries_checked: walk.checked,
      from_sequence: walk.first,
      to_sequence: walk.last,
      head_hash: walk.head,
      failures,
    };
    await this.#record(stream, verification, { beganAt, soundThrough: walk.soundThrough });
    return verification;
  }

  /** What the stream states now; entries appended while the walk goes on are not part of it. */
  #snapshot(streamId: string): Promise<Expected & { last: number }> {
    return this.#database.snapshot(async (reader) => {
      const stream = await findStream(reader, streamId);
      const tables = reader.tables<AuditTables>();
      const { stream_no } = stream;
      const checkpoints = await tables
        .selectFrom('checkpoints')
        .select(['sequence', 'hash'])
        .distinct()
        .where('stream_no', '=', stream_no)
        .orderBy('sequence')
        .execute();
      const end = await tables
        .selectFrom('entries')
        .select('sequence')
        .where('stream_no', '=', stream_no)
        .orderBy('sequence', 'desc')
        .limit(1)
        .executeTakeFirst();
      return { stream, checkpoints, last: end?.sequence ?? 0 };
    });
  }

  /** Two checks may overlap: the stream is shown as that one found it that began later. */
  #record(
    stream: StreamRow,
    found: WireVerification,
    { beganAt, soundThrough }: { beganAt: string; soundThrough: number | null },
  ): Promise<void> {
    return this.#database.write(async (transaction) => {
      const tables = transaction.tables<AuditTables>();
      const { verification_no } = await tables
        .insertInto('verifications')
        .values({
          verification_id: found.verification_id,
          stream_no: stream.stream_no,
          verified: Number(found.verified),
          began_at: beganAt,
          checked_at: found.checked_at,
          entries_checked: found.entries_checked,
          from_sequence: found.from_sequence,
          to_sequence: found.to_sequence,
          head_hash: found.head_hash,
          sound_through: soundThrough,
          failures: JSON.stringify(found.failures),
        })
        .returning('verification_no')
        .executeTakeFirstOrThrow();
      await tables
        .updateTable('streams')
        .set({ verification_no })
        .where('stream_no', '=', stream.stream_no)
        .where(({ not, exists, selectFrom }) => {
          const shown = selectFrom('verifications').select('verification_no');
          const isThis = shown.whereRef('verifications.verification_no', '=', 'streams.verification_no');
          return not(exists(isThis.where('began_at', '>', beganAt)));
        })
        .execute();
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
