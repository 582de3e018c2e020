import { NO_TIME, type Tip } from '../decode/wasm/kernel.ts';
import type { Entry } from '../model/entry.ts';
import type { FindingLog } from '../model/finding-log.ts';
import { type FindingPlace, placeOf, toStreamFinding } from '../model/stream-finding.ts';
import type { Contract } from '../reading/contract.ts';
import { RecentDigests, type RegularEntries } from './regular.ts';

/**
 * A run of consecutive sequence numbers that were seen, with what is needed to link it to its neighbours. One run is
 * what an intact chain needs; each hole costs one more.
 */
interface Run {
  from: number;
  to: number;
  /** What the entry at `from` says its predecessor's digest is. */
  firstPrevious: string;
  firstTimestamp: number;
  /** The digest of the entry at `to`, as stated; several when that number is forked. */
  lastDigests: string[];
  lastTimestamp: number;
}

/** The entries with the lowest and the highest number. */
export interface OrderEnds {
  first: Pick<Run, 'from' | 'firstPrevious' | 'firstTimestamp'>;
  last: { sequence: number; digest: string };
  lastTimestamp: number;
}

/** More holes than this are closed from the oldest on, each reported as the gap that it is. */
const MAX_RUNS = 10_000;

const MAX_FORKS = 16;

/**
 * The order of one stream, entry by entry: every number once, every link to the digest before it. Memory does not grow
 * with the number of entries.
 */
export class OrderCheck {
  readonly #streamId: string;
  readonly #genesis: string;
  readonly #firstSequence: number;
  readonly #log: FindingLog;
  /** Disjoint, never touching, ascending. */
  readonly #runs: Run[] = [];
  readonly #recent = new RecentDigests();

  constructor(
    streamId: string,
    { genesis, firstSequence }: Pick<Contract, 'genesis' | 'firstSequence'>,
    log: FindingLog,
  ) {
    this.#streamId = streamId;
    this.#genesis = genesis;
    this.#firstSequence = firstSequence;
    this.#log = log;
  }

  push(entry: Entry): void {
    const { sequence } = entry;
    const index = this.#lastFrom(sequence);
    const before = this.#runs[index];
    if (before !== undefined && sequence <= before.to) {
      this.#reportAgain(entry, before);
      return;
    }
    const highest = this.#runs.at(-1)?.to ?? this.#firstSequence;
    if (sequence < highest)
      this.#report('order/reordered', entry, `entry ${sequence} arrives after entry ${highest}`, { sequence });
    this.#checkGenesis(entry);
    this.#insert(entry, index);
    this.#recent.add(sequence, entry.digest);
  }

  /** What a regular entry has to follow; null where nothing can be regular. */
  get tip(): Tip | null {
    const last = this.#runs.at(-1);
    if (last === undefined) return { sequence: this.#firstSequence - 1, digest: this.#genesis, time: NO_TIME };
    const [digest, other] = last.lastDigests;
    if (digest === undefined || other !== undefined) return null;
    return { sequence: last.to, digest, time: last.lastTimestamp };
  }

  /** Takes entries that follow the tip. */
  extend(entries: RegularEntries): void {
    const { firstSequence, firstTime, tip } = entries;
    const last = this.#runs.at(-1) ?? {
      from: firstSequence,
      to: firstSequence,
      firstPrevious: this.#genesis,
      firstTimestamp: firstTime,
      lastDigests: [],
      lastTimestamp: 0,
    };
    if (this.#runs.length === 0) this.#runs.push(last);
    last.to = tip.sequence;
    last.lastDigests = [tip.digest];
    last.lastTimestamp = tip.time;
    this.#recent.addRegular(entries);
  }

  /** Reports the holes that are still open, and ends the check. */
  finish(): OrderEnds | null {
    for (let index = 1; index < this.#runs.length; index++) this.#reportHole(index);
    const first = this.#runs[0];
    const last = this.#runs.at(-1);
    if (first === undefined || last === undefined) return null;
    const head = { sequence: last.to, digest: last.lastDigests[0] ?? '' };
    return { first, last: head, lastTimestamp: last.lastTimestamp };
  }

  /** Whether the entry is the very next of what was seen so far: its number and its link both fit. */
  continues(entry: Entry): boolean {
    const last = this.#runs.at(-1);
    if (last === undefined) return entry.sequence === this.#firstSequence && entry.previous === this.#genesis;
    return entry.sequence === last.to + 1 && last.lastDigests.includes(entry.previous);
  }

  /** The index of the last run that begins at `sequence` or before it; -1 where there is none. */
  #lastFrom(sequence: number): number {
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#runs[middle] as Run).from <= sequence) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #insert(entry: Entry, index: number): void {
    const before = this.#runs[index];
    const after = this.#runs[index + 1];
    const run: Run = {
      from: entry.sequence,
      to: entry.sequence,
      firstPrevious: entry.previous,
      firstTimestamp: Date.parse(entry.timestamp),
      lastDigests: [entry.digest],
      lastTimestamp: Date.parse(entry.timestamp),
    };
    this.#runs.splice(index + 1, 0, run);
    if (after !== undefined && after.from === run.to + 1) this.#join(index + 1);
    if (before !== undefined && before.to === run.from - 1) this.#join(index);
    if (this.#runs.length > MAX_RUNS) {
      this.#reportHole(1);
      this.#join(0, { hole: true });
    }
  }

  /** Makes one run of the run at `index` and the next, and checks the link between them. */
  #join(index: number, options: { hole: boolean } = { hole: false }): void {
    const [left, right] = [this.#runs[index], this.#runs[index + 1]];
    if (left === undefined || right === undefined) return;
    if (!options.hole) this.#checkLink(left, right);
    left.to = right.to;
    left.lastDigests = right.lastDigests;
    left.lastTimestamp = right.lastTimestamp;
    this.#runs.splice(index + 1, 1);
  }

  #checkLink(left: Run, right: Run): void {
    const sequence = right.from;
    // A later entry that claims to be the first has been reported as order/genesis: one deviation, one finding.
    if (!left.lastDigests.includes(right.firstPrevious) && right.firstPrevious !== this.#genesis)
      this.#log.add(
        toStreamFinding(
          'order/broken-link',
          this.#streamId,
          `entry ${sequence} does not name the digest of entry ${left.to} as its predecessor`,
          { sequence, expected: right.firstPrevious, actual: left.lastDigests[0] ?? '' },
        ),
      );
    if (right.firstTimestamp < left.lastTimestamp)
      this.#log.add(
        toStreamFinding(
          'order/clock-backwards',
          this.#streamId,
          `entry ${sequence} is dated before entry ${left.to}: ${new Date(right.firstTimestamp).toISOString()}`,
          { sequence },
        ),
      );
  }

  #checkGenesis(entry: Entry): void {
    const { sequence, previous } = entry;
    if (sequence === this.#firstSequence && previous !== this.#genesis)
      this.#report('order/genesis', entry, `entry ${sequence} names a predecessor`, {
        sequence,
        expected: this.#genesis,
        actual: previous,
      });
    if (sequence > this.#firstSequence && previous === this.#genesis)
      this.#report('order/genesis', entry, `entry ${sequence} claims to be the first of the stream`, { sequence });
  }

  /** An entry whose number was seen before. */
  #reportAgain(entry: Entry, run: Run): void {
    const { sequence } = entry;
    const known = this.#recent.get(sequence);
    if (known === undefined || known === entry.digest) {
      const words = known === undefined ? 'again, too far from the first to compare them' : 'again, unchanged';
      this.#report('order/duplicate', entry, `entry ${sequence} is there ${words}`, { sequence });
      return;
    }
    this.#report('order/fork', entry, `two different entries have the sequence number ${sequence}`, {
      sequence,
      expected: known,
      actual: entry.digest,
    });
    // What follows may rightly name either of them.
    if (run.to === sequence && run.lastDigests.length < MAX_FORKS) run.lastDigests.push(entry.digest);
  }

  #reportHole(index: number): void {
    const [left, right] = [this.#runs[index - 1], this.#runs[index]];
    if (left === undefined || right === undefined) return;
    const [from, to] = [left.to + 1, right.from - 1];
    const words = from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`;
    this.#log.add(toStreamFinding('order/gap', this.#streamId, words, { from, to }));
  }

  #report(code: Parameters<typeof toStreamFinding>[0], entry: Entry, message: string, place: FindingPlace): void {
    this.#log.add(toStreamFinding(code, this.#streamId, message, { ...placeOf(entry), ...place }));
  }
}
