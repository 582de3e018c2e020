import { GENESIS } from '../../core/wire.ts';
import type { Faults } from './faults.ts';
import type { EntryRow } from './repository.ts';
import type { SealedHead } from './row-seals.ts';
import { hashEntry, sealHash } from './rules.ts';
import type { DerivedSealKeys } from './seal-keys.ts';

/** What a checkpoint says of an entry. */
export interface AnchoredHash {
  sequence: number;
  hash: string;
}

/** What the walk is held against, taken at one moment. */
export interface StatedOfStream {
  head: SealedHead;
  /** In the order of their sequence numbers. */
  anchors: readonly AnchoredHash[];
}

/** One pass over the entries of a stream. */
export class Walk {
  readonly #keys: DerivedSealKeys;
  readonly #expected: StatedOfStream;
  readonly #faults: Faults;
  #nextAnchor = 0;
  first: number | null = null;
  last: number | null = null;
  head: string | null = null;
  checked = 0;

  constructor(keys: DerivedSealKeys, expected: StatedOfStream, faults: Faults) {
    this.#keys = keys;
    this.#expected = expected;
    this.#faults = faults;
  }

  step(entry: EntryRow): void {
    const { sequence } = entry;
    const faults = this.#faults;
    const due = (this.last ?? 0) + 1;
    if (sequence > due) {
      const missing = sequence - 1 === due ? `${due}` : `${due}-${sequence - 1}`;
      faults.fail('sequence_gap', due, missing, `${sequence}`);
    }
    this.#compareAnchors(sequence, entry.hash);
    faults.compare('broken_link', sequence, this.head ?? GENESIS, entry.prev_hash);
    faults.compare('hash_mismatch', sequence, hashEntry(entry), entry.hash);
    const key = this.#keys.find(entry.stream_id, entry.seal_key_id);
    if (key === null) faults.fail('unknown_seal_key', sequence, null, entry.seal_key_id);
    else faults.compareSeal('seal_mismatch', sequence, sealHash(key, entry.hash), entry.seal);
    this.first ??= sequence;
    this.last = sequence;
    this.head = entry.hash;
    this.checked++;
  }

  finish(): void {
    this.#compareAnchors(Number.POSITIVE_INFINITY, null);
    const { sequence, hash, count } = this.#expected.head;
    const last = this.last ?? 0;
    if (sequence !== last) this.#faults.fail('head_mismatch', sequence, `${sequence}`, `${last}`);
    else this.#faults.compare('head_mismatch', sequence, hash, this.head);
    if (count !== this.checked) this.#faults.fail('count_mismatch', sequence, `${count}`, `${this.checked}`);
  }

  /** Holds the checkpoints up to `sequence` against the entry there; those before it have no entry at all. */
  #compareAnchors(sequence: number, hash: string | null): void {
    const { anchors } = this.#expected;
    let anchor = anchors[this.#nextAnchor];
    while (anchor !== undefined && anchor.sequence <= sequence) {
      const actual = anchor.sequence === sequence ? hash : null;
      this.#faults.compare('checkpoint_mismatch', anchor.sequence, anchor.hash, actual);
      anchor = anchors[++this.#nextAnchor];
    }
  }
}
