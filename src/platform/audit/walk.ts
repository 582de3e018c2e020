import type { EntryToCheck } from './entry-rows.ts';
import { correctionText, FIRST_EPOCH, saysCorrected, saysRotated } from './enums.ts';
import { GENESIS, hashContent, sealHash } from './rules.ts';
import { type DerivedSealKeys, type FoundSealKey, sealKeyId } from './seal-keys.ts';
import type { SealedHead } from './sealed-rows.ts';
import { hourOf } from './totals.ts';
import type { WireVerification } from './wire.ts';

type Failure = WireVerification['failures'][number];

/** Maximum number of failures listed; a stream that was rewritten as a whole has one per entry. */
const MAX_FAILURES = 1000;

/** Failures that a check finds. */
export class Faults {
  readonly #failures: Failure[] = [];
  #count = 0;
  /** Lowest sequence number with a failure. */
  first = Number.POSITIVE_INFINITY;

  fail(code: string, sequence: number, expected: string | null, actual: string | null): void {
    this.#count++;
    this.first = Math.min(this.first, sequence);
    if (this.#failures.length < MAX_FAILURES) this.#failures.push({ code, sequence, expected, actual });
  }

  compare(code: string, sequence: number, expected: string | null, actual: string | null): void {
    if (expected !== actual) this.fail(code, sequence, expected, actual);
  }

  /** Compares a seal. The failure omits the expected seal, with which a changed row would pass as sound. */
  compareSeal(code: string, sequence: number, expected: string, actual: string): void {
    if (expected !== actual) this.fail(code, sequence, null, actual);
  }

  /** Returns all failures. @param last sequence number at which unlisted failures are reported. */
  told(last: number): Failure[] {
    const more = this.#count - this.#failures.length;
    if (more === 0) return this.#failures;
    return [...this.#failures, { code: 'more_failures', sequence: last, expected: null, actual: `${more} more` }];
  }
}

/** Statements that the walk is compared with, read in one snapshot. */
interface StatedOfStream {
  head: SealedHead;
  /** Digests of entries as stated by checkpoints, in the order of the sequence numbers. */
  anchors: readonly { sequence: number; hash: string }[];
  /** Numbers of entries by hour. */
  hours: ReadonlyMap<string, number>;
}

/** Single pass over the entries of a stream. */
export class Walk {
  readonly #keys: DerivedSealKeys;
  readonly #expected: StatedOfStream;
  readonly #faults: Faults;
  #nextAnchor = 0;
  /** Epoch of the next entry's key. */
  #epoch = FIRST_EPOCH;
  /** Key of the last entry, which is usually also that of the next. */
  #found: FoundSealKey | null = null;
  /** Numbers of entries by hour. */
  readonly #hours = new Map<string, number>();
  first: number | null = null;
  last: number | null = null;
  head: string | null = null;
  /** Number of the last entry in the order in which the entries of all streams were recorded. */
  #recorded = 0;
  /** Time of the last entry; null if that entry is missing or was changed. */
  #time: string | null = null;
  checked = 0;
  /** Number of entries that state that the clock went back. */
  corrections = 0;

  constructor(keys: DerivedSealKeys, expected: StatedOfStream, faults: Faults) {
    this.#keys = keys;
    this.#expected = expected;
    this.#faults = faults;
  }

  step(entry: EntryToCheck): void {
    const { sequence } = entry;
    const faults = this.#faults;
    const due = (this.last ?? 0) + 1;
    if (sequence > due) {
      const missing = sequence - 1 === due ? `${due}` : `${due}-${sequence - 1}`;
      faults.fail('sequence_gap', due, missing, `${sequence}`);
    }
    this.#compareAnchors(sequence, entry.hash);
    faults.compare('broken_link', sequence, this.head ?? GENESIS, entry.prev_hash);
    const hash = hashContent(entry.content);
    faults.compare('hash_mismatch', sequence, hash, entry.hash);
    if (entry.recorded <= this.#recorded) faults.fail('order_mismatch', sequence, null, `${entry.recorded}`);
    this.#recorded = entry.recorded;
    if (sequence !== due) this.#time = null;
    this.#checkTime(entry, hash === entry.hash);
    this.#checkSeal(entry);
    this.first ??= sequence;
    this.last = sequence;
    this.head = entry.hash;
    this.checked++;
    const hour = hourOf(entry.timestamp);
    this.#hours.set(hour, (this.#hours.get(hour) ?? 0) + 1);
  }

  finish(): void {
    this.#compareAnchors(Number.POSITIVE_INFINITY, null);
    const { streamId, sequence, hash, count, sealEpoch } = this.#expected.head;
    const last = this.last ?? 0;
    if (sequence !== last) this.#faults.fail('head_mismatch', sequence, `${sequence}`, `${last}`);
    else this.#faults.compare('head_mismatch', sequence, hash, this.head);
    if (sealEpoch !== this.#epoch) this.#failEpoch(sequence, streamId, sealEpoch);
    if (count !== this.checked) this.#faults.fail('count_mismatch', sequence, `${count}`, `${this.checked}`);
    this.#compareHours(sequence);
  }

  /**
   * Checks that the times of a stream go back only at an entry that states both times and nothing else. The times of a
   * changed entry are compared with none, so that one change is reported once.
   */
  #checkTime(entry: EntryToCheck, isUnchanged: boolean): void {
    const { sequence, timestamp, content } = entry;
    const previous = this.#time;
    this.#time = isUnchanged ? timestamp : null;
    if (previous === null || !isUnchanged) {
      // The first entry has none before it.
      if (sequence === 1 && saysCorrected(entry)) this.#faults.fail('clock_mismatch', sequence, null, timestamp);
      return;
    }
    if (!saysCorrected(entry)) {
      if (timestamp < previous) this.#faults.fail('clock_mismatch', sequence, previous, timestamp);
      return;
    }
    this.corrections++;
    // The first occurrence is the member, because quotes are escaped within texts.
    const stated = `"metadata":${correctionText(timestamp, previous)},`;
    const isStated = content.startsWith(stated, content.indexOf('"metadata":'));
    if (!isStated || timestamp >= previous) this.#faults.fail('clock_mismatch', sequence, previous, timestamp);
  }

  /**
   * Checks that an entry is sealed by the key of its epoch: the holder of an earlier key must not be able to seal later
   * entries.
   */
  #checkSeal(entry: EntryToCheck): void {
    const { sequence, seal_key_id } = entry;
    const { streamId } = this.#expected.head;
    if (this.#found?.id !== seal_key_id) this.#found = this.#keys.find(streamId, seal_key_id);
    const found = this.#found;
    if (found === null) {
      this.#faults.fail('unknown_seal_key', sequence, null, seal_key_id);
      return;
    }
    this.#faults.compareSeal('seal_mismatch', sequence, sealHash(found.key, entry.hash), entry.seal);
    if (found.epoch !== this.#epoch) this.#failEpoch(sequence, streamId, found.epoch);
    // Continues with the epoch found, so that one break is reported once.
    this.#epoch = found.epoch + Number(saysRotated(entry));
  }

  /** Compares the numbers of entries by hour, and reports the first one that differs. */
  #compareHours(sequence: number): void {
    const { hours } = this.#expected;
    const all = [...new Set([...hours.keys(), ...this.#hours.keys()])].sort();
    const counts = all.map((hour) => ({ hour, stated: hours.get(hour) ?? 0, counted: this.#hours.get(hour) ?? 0 }));
    const wrong = counts.find(({ stated, counted }) => stated !== counted);
    if (wrong === undefined) return;
    const { hour, stated, counted } = wrong;
    this.#faults.fail('hour_mismatch', sequence, `${hour}: ${counted}`, `${hour}: ${stated}`);
  }

  #failEpoch(sequence: number, streamId: string, epoch: number): void {
    const [due, actual] = [sealKeyId(streamId, this.#epoch), sealKeyId(streamId, epoch)];
    this.#faults.fail('seal_epoch_mismatch', sequence, due, actual);
  }

  /** Compares the checkpoints up to `sequence` with the entry there; earlier checkpoints left over have no entry. */
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
