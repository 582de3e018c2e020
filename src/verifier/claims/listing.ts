import type { SentEntries } from '../model/batch.ts';
import { FindingLog } from '../model/finding-log.ts';
import { Aside, type ListingFinding, toListingFinding } from './aside.ts';
import { type ListedEntry, Packaged, Queue } from './packaged.ts';

/** Result of comparing a package with the service's own listing of its entries. */
export interface ListingResult {
  /** Entries that the service lists, whenever recorded: the number of lines of the listing. */
  lines: number;
  /** Entries that the service lists and that were recorded before the package was requested. */
  listed: number;
  /** Entries that both have with the same digest. */
  same: number;
  /** Exact number of entries that differ. */
  differences: number;
  /** Places of the differences, as far as they were kept. */
  deviations: ListingFinding[];
  /** Entries listed after the package's end that may or may not have existed when it was requested. */
  undecided: number;
}

/**
 * Limits that select listed entries which need not be in a package, because they were recorded while or after it was
 * made. None of them is the package's own statement.
 */
export interface PackageCut {
  /** Time of the package's request by our clock; milliseconds since 1970. */
  askedAt: number;
  /** Earliest time of the same moment by the service's clock; null if not known. */
  askedAtByService: number | null;
  /** Head of the stream before the request. */
  statedHead: number | null;
  /** Latest plausible time of an entry; a later one is wrong. Milliseconds since 1970. */
  latest: number;
}

/** Receives the listed entries in order. */
export interface ListingObserver {
  /** Receives entries from `from` to `to` (exclusive) that the package has in the same place. */
  matched(entries: SentEntries, from: number, to: number): void;
  /** @param isBehind true if the package had ended before the entry. */
  listed(entry: ListedEntry, isBehind: boolean): void;
}

/**
 * Number of later entries after which the listing is read no further, because a busy stream grows while it is listed.
 */
const ENOUGH_LATER = 100;

const NOBODY: ListingObserver = { matched: () => {}, listed: () => {} };

/**
 * Compares a package with an independent listing of the same entries as both arrive, each in the order of its sequence
 * numbers. Entries of the one wait for the other; the caller keeps that wait short by asking `wantsListing`.
 */
export class ListingMerge {
  readonly #log = new FindingLog();
  readonly #aside: Aside;
  readonly #packaged = new Packaged();
  readonly #listed = new Queue<ListedEntry>();
  #listingEnded = false;
  /** Set once the package has ended. */
  #cut: PackageCut | null = null;
  #lines = 0;
  #listedCount = 0;
  #same = 0;
  #undecided = 0;
  /** Number of entries after the package's end that were recorded later. */
  #later = 0;

  readonly #observer: ListingObserver;

  constructor(streamId: string, observer = NOBODY) {
    this.#aside = new Aside(streamId, this.#log);
    this.#observer = observer;
  }

  fromPackage(entry: ListedEntry): void {
    this.#packaged.add(entry);
    this.#merge();
  }

  /** Adds entries like `fromPackage`. They are not parsed if the listing has the very same bytes. */
  fromPackageAsSent(entries: SentEntries): void {
    this.#packaged.addSent(entries);
    this.#merge();
  }

  /**
   * Matches packaged entries that the listing has not reached yet with `text` from `at` on: counts those whose bytes
   * and separators are identical, and returns the end of the last. Identical bytes state the same.
   */
  match(text: Uint8Array, at: number): { count: number; end: number } {
    return this.#packaged.match(text, at);
  }

  /** @param matched number of entries before these that `match` recognized. */
  fromListing(entries: readonly ListedEntry[], matched = 0): void {
    this.#packaged.drop(matched, this.#observer.matched);
    this.#lines += matched + entries.length;
    this.#same += matched;
    this.#listedCount += matched;
    for (const entry of entries) this.#listed.add(entry);
    this.#merge();
  }

  endListing(): void {
    this.#listingEnded = true;
    this.#merge();
  }

  /** Ends the package. */
  endPackage(cut: PackageCut): void {
    this.#cut = cut;
    this.#merge();
  }

  /** True while more of the listing is needed. */
  get wantsListing(): boolean {
    return !this.#listingEnded && this.#later < ENOUGH_LATER && (this.#cut !== null || this.#packaged.isEnough);
  }

  /** Returns the result after both have ended; call once. */
  result(): ListingResult {
    this.#aside.tell();
    const deviations = this.#log.list().map(toListingFinding);
    return {
      lines: this.#lines,
      listed: this.#listedCount,
      same: this.#same,
      differences: this.#log.total(),
      deviations,
      undecided: this.#undecided,
    };
  }

  #merge(): void {
    for (;;) {
      const listed = this.#listed.first;
      if (listed === undefined && !this.#listingEnded) return;
      const packaged = this.#packaged.first();
      if (packaged === undefined) {
        this.#mergeAfterPackage();
        return;
      }
      if (listed !== undefined && listed.sequence < packaged.sequence) {
        this.#takeListed('within');
        this.#same += this.#aside.add(null, listed);
      } else if (listed === undefined || listed.sequence > packaged.sequence) {
        this.#packaged.take();
        this.#same += this.#aside.add(packaged, null);
      } else {
        this.#packaged.take();
        this.#takeListed('within');
        if (listed.digest === packaged.digest) this.#same++;
        else this.#same += this.#aside.add(packaged, listed);
      }
    }
  }

  #takeListed(place: 'within' | 'after'): ListedEntry | undefined {
    const entry = this.#listed.take();
    if (entry !== undefined) this.#observer.listed(entry, place === 'after');
    if (entry !== undefined && place === 'within') this.#listedCount++;
    return entry;
  }

  #mergeAfterPackage(): void {
    if (this.#cut === null) return;
    for (let entry = this.#takeListed('after'); entry !== undefined; entry = this.#takeListed('after')) {
      const missed = isMissed(entry, this.#cut);
      if (missed === null) this.#undecided++;
      else if (!missed) this.#later++;
      else {
        this.#listedCount++;
        this.#same += this.#aside.add(null, entry);
      }
    }
  }
}

/**
 * Reports whether the package should have a listed entry:
 * - by its line, if that was written before the package ended: the package was then cut afterward;
 * - else by the head that was stated before;
 * - else by the entry's time.
 *
 * Null if the entry has no time, or if the service's clock and ours disagree: the slow clock may be wrong, or the entry
 * was held back.
 */
function isMissed(
  { sequence, timestamp, isWithin }: ListedEntry,
  { askedAt, askedAtByService, statedHead, latest }: PackageCut,
): boolean | null {
  if (isWithin === true || (statedHead !== null && sequence <= statedHead)) return true;
  const recorded = Date.parse(timestamp);
  if (Number.isNaN(recorded)) return null;
  if (recorded < (askedAtByService ?? askedAt)) return true;
  return recorded < askedAt || recorded > latest ? null : false;
}
