import { FLAG, hexAt, isNoted, statedDigest } from '../model/batch.ts';
import type { ClockCorrection } from '../model/entry.ts';
import type { FindingLog } from '../model/finding-log.ts';
import { type FindingPlace, placeOf, type StreamFindingCode, toStreamFinding } from '../model/stream-finding.ts';
import type { EntryReader } from '../reading/contract.ts';
import { RecentDigests } from './recent.ts';
import type { Run } from './runs.ts';

/**
 * Range of consecutive sequence numbers seen so far, with the data that links it to its neighbors. An intact chain
 * needs one range; each hole adds another.
 */
interface Seen {
  from: number;
  to: number;
  /** Predecessor's digest, as stated by the entry at `from`. */
  firstPrevious: string;
  firstTime: number;
  /** Stated digest of the entry at `to`; several if that number is forked. */
  lastDigests: string[];
  lastTime: number;
  /** Correction of the clock that the entry at `from` states; null if it states none or is not before `lastTime`. */
  correction: ClockCorrection | null;
}

/** Maximum number of ranges. Beyond it, the oldest hole is reported as a gap and closed. */
const MAX_SEEN = 10_000;

const MAX_FORKS = 16;

/**
 * Checks the order of one stream: every number once, and every link to the digest before it. Memory does not grow with
 * the number of entries.
 */
export class OrderCheck {
  readonly #streamId: string;
  readonly #genesis: string;
  readonly #firstSequence: number;
  readonly #log: FindingLog;
  /** Disjoint ranges that never touch, in ascending order. */
  readonly #seen: Seen[] = [];
  readonly #recent = new RecentDigests();

  constructor(
    streamId: string,
    { genesis, firstSequence }: Pick<EntryReader, 'genesis' | 'firstSequence'>,
    log: FindingLog,
  ) {
    this.#streamId = streamId;
    this.#genesis = genesis;
    this.#firstSequence = firstSequence;
    this.#log = log;
  }

  push(run: Run): void {
    const { batch, from, to } = run;
    const first = batch.sequences[from] ?? 0;
    const isAhead = first >= this.#firstSequence && first > (this.#seen.at(-1)?.to ?? Number.NEGATIVE_INFINITY);
    // Entries that are not ahead of all seen numbers, or precede the first number, are checked one by one.
    if (isAhead || to === from + 1) this.#take(run);
    else for (let index = from; index < to; index++) this.#take({ batch, from: index, to: index + 1 });
  }

  /** Takes a single entry, or a run that is ahead of everything seen. */
  #take(run: Run): void {
    const seen = this.#toSeen(run);
    const index = this.#lastFrom(seen.from);
    const before = this.#seen[index];
    if (before !== undefined && seen.from <= before.to) {
      this.#reportAgain(run, seen, before);
      return;
    }
    const highest = this.#seen.at(-1)?.to ?? this.#firstSequence;
    if (seen.from < highest)
      this.#report('order/reordered', run, `entry ${seen.from} arrives after entry ${highest}`, {});
    this.#checkGenesis(run, seen);
    this.#insert(seen, index);
    this.#recent.add(run);
  }

  #toSeen({ batch, from, to }: Run): Seen {
    const { sequences, times } = batch;
    const firstTime = times[from] ?? Number.NaN;
    const goesBack = firstTime < (this.#seen.at(-1)?.lastTime ?? Number.NaN);
    return {
      from: sequences[from] ?? 0,
      to: sequences[to - 1] ?? 0,
      firstPrevious: this.#previousOf({ batch, from, to }),
      firstTime,
      lastDigests: [statedDigest(batch, to - 1)],
      lastTime: times[to - 1] ?? Number.NaN,
      // Read only where it matters, while the bytes of the batch are there.
      correction: goesBack ? batch.entry(from).words().corrected : null,
    };
  }

  /** Returns the predecessor stated by a run's first entry; the contract's genesis value if it states none. */
  #previousOf({ batch, from }: Run): string {
    if (((batch.flags[from] ?? 0) & FLAG.first) !== 0) return this.#genesis;
    if (isNoted(batch, from)) return batch.entry(from).previous;
    return hexAt(batch.previous, from, batch.digestBytes);
  }

  /** Reports the remaining holes and ends the check. Returns the entries with the lowest and the highest number. */
  finish() {
    for (let index = 1; index < this.#seen.length; index++) this.#reportHole(index);
    const first = this.#seen[0];
    const last = this.#seen.at(-1);
    if (first === undefined || last === undefined) return null;
    const head = { sequence: last.to, digest: last.lastDigests[0] ?? '' };
    return { first, last: head, lastTime: last.lastTime };
  }

  /** Reports whether a run continues the entries seen so far: its first number and its link both fit. */
  continues(run: Run): boolean {
    const { from, firstPrevious } = this.#toSeen(run);
    const last = this.#seen.at(-1);
    if (last === undefined) return from === this.#firstSequence && firstPrevious === this.#genesis;
    return from === last.to + 1 && last.lastDigests.includes(firstPrevious);
  }

  /** Returns the index of the last range that begins at or before `sequence`; -1 if there is none. */
  #lastFrom(sequence: number): number {
    let [low, high] = [0, this.#seen.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seen[middle] as Seen).from <= sequence) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #insert(seen: Seen, index: number): void {
    const before = this.#seen[index];
    const after = this.#seen[index + 1];
    this.#seen.splice(index + 1, 0, seen);
    if (after !== undefined && after.from === seen.to + 1) this.#join(index + 1);
    if (before !== undefined && before.to === seen.from - 1) this.#join(index);
    if (this.#seen.length > MAX_SEEN) {
      this.#reportHole(1);
      this.#join(0, { hole: true });
    }
  }

  /** Merges the range at `index` with the next one, and checks the link between them unless a hole lies there. */
  #join(index: number, options: { hole: boolean } = { hole: false }): void {
    const [left, right] = [this.#seen[index], this.#seen[index + 1]];
    if (left === undefined || right === undefined) return;
    if (!options.hole) this.#checkLink(left, right);
    left.to = right.to;
    left.lastDigests = right.lastDigests;
    left.lastTime = right.lastTime;
    this.#seen.splice(index + 1, 1);
  }

  #checkLink(left: Seen, right: Seen): void {
    const sequence = right.from;
    // A later entry that claims to be the first is already reported as order/genesis: one finding is enough.
    if (!left.lastDigests.includes(right.firstPrevious) && right.firstPrevious !== this.#genesis) {
      const message = `entry ${sequence} does not name the digest of entry ${left.to} as its predecessor`;
      this.#add('order/broken-link', message, {
        sequence,
        expected: right.firstPrevious,
        actual: left.lastDigests[0] ?? '',
      });
    }
    if (right.firstTime < left.lastTime) {
      const message = `entry ${sequence} is dated before entry ${left.to}: ${new Date(right.firstTime).toISOString()}`;
      const code = isTrue(right.correction, left, right) ? 'order/clock-corrected' : 'order/clock-backwards';
      this.#add(code, message, { sequence });
    }
  }

  /** Checks the predecessor of a run's first entry. The other entries of a run link to the entry before them. */
  #checkGenesis(run: Run, { from, firstPrevious }: Seen): void {
    if (from === this.#firstSequence && firstPrevious !== this.#genesis)
      this.#report('order/genesis', run, `entry ${from} names a predecessor`, {
        expected: this.#genesis,
        actual: firstPrevious,
      });
    if (from > this.#firstSequence && firstPrevious === this.#genesis)
      this.#report('order/genesis', run, `entry ${from} claims to be the first of the stream`, {});
  }

  /** Reports an entry whose number was seen before. */
  #reportAgain(run: Run, { from: sequence, lastDigests: [digest = ''] }: Seen, before: Seen): void {
    const known = this.#recent.get(sequence);
    if (known === undefined || known === digest) {
      const words = known === undefined ? 'again, too far from the first to compare them' : 'again, unchanged';
      this.#report('order/duplicate', run, `entry ${sequence} occurs ${words}`, {});
      return;
    }
    this.#report('order/fork', run, `two different entries have the sequence number ${sequence}`, {
      expected: known,
      actual: digest,
    });
    // The next entry may rightly link to either digest.
    if (before.to === sequence && before.lastDigests.length < MAX_FORKS) before.lastDigests.push(digest);
  }

  #reportHole(index: number): void {
    const [left, right] = [this.#seen[index - 1], this.#seen[index]];
    if (left === undefined || right === undefined) return;
    const [from, to] = [left.to + 1, right.from - 1];
    const words = from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`;
    this.#add('order/gap', words, { from, to });
  }

  #add(code: StreamFindingCode, message: string, place: FindingPlace): void {
    this.#log.add(toStreamFinding(code, this.#streamId, message, place));
  }

  /** Reports a finding at the first entry of a run. */
  #report(code: StreamFindingCode, { batch, from }: Run, message: string, values: FindingPlace): void {
    this.#log.addAt(code, batch.sequences[from] ?? 0, () =>
      toStreamFinding(code, this.#streamId, message, { ...placeOf(batch.entry(from)), ...values }),
    );
  }
}

/** Reports whether a correction states the times of both entries: of its own, and of the one before. */
function isTrue(correction: ClockCorrection | null, left: Seen, right: Seen): boolean {
  if (correction === null) return false;
  return Date.parse(correction.now) === right.firstTime && Date.parse(correction.previous) === left.lastTime;
}
