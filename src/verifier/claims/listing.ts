import type { SentEntries } from '../model/batch.ts';
import { FindingLog } from '../model/finding-log.ts';
import { Aside, type ListingFinding, toListingFinding } from './aside.ts';
import { type ListedEntry, Packaged, Queue } from './packaged.ts';

/** The result of comparing a package with the service's own listing of its entries. */
export interface ListingResult {
  /** Entries that the service lists, whenever they were recorded: as many as the listing has lines. */
  lines: number;
  /** Entries that the service lists and that were recorded before the package was asked for. */
  listed: number;
  /** Entries that both have, with the same digest. */
  same: number;
  /** Entries that differ, exactly. */
  differences: number;
  /** The places where they do, as far as they were kept. */
  deviations: ListingFinding[];
  /** Listed after the package's end, where nothing tells whether they were there when it was asked for. */
  undecided: number;
}

/**
 * Selects listed entries that need not be in a package, because they were recorded while or after it was made. Nothing
 * in it is the package's own word.
 */
export interface PackageCut {
  /** When it was asked for, by our clock; milliseconds since 1970. */
  askedAt: number;
  /** The same moment, at the earliest, by the service's clock; null where that is not known. */
  askedAtByService: number | null;
  /** The stream's head before it was asked for. */
  statedHead: number | null;
  /** An entry dated after this moment is dated wrongly; milliseconds since 1970. */
  latest: number;
}

/** Sees what the service lists, in its order. */
export interface ListingObserver {
  /** Entries that the package has in the same place, those from `from` on and before `to`. */
  matched(entries: SentEntries, from: number, to: number): void;
  /** @param isBehind whether the package had ended before it. */
  listed(entry: ListedEntry, isBehind: boolean): void;
}

/** Later entries after which a listing is read no further: a busy stream grows while it is listed. */
const ENOUGH_LATER = 100;

const NOBODY: ListingObserver = { matched: () => {}, listed: () => {} };

/**
 * Compares a package with an independent listing of the same entries while both arrive, each in the order of its
 * sequence numbers. What one of them has already told waits for the other; the caller keeps that short by asking
 * `wantsListing`.
 */
export class ListingMerge {
  readonly #log = new FindingLog();
  readonly #aside: Aside;
  readonly #packaged = new Packaged();
  readonly #listed = new Queue<ListedEntry>();
  #listingEnded = false;
  /** Set when the package has ended. */
  #cut: PackageCut | null = null;
  #lines = 0;
  #listedCount = 0;
  #same = 0;
  #undecided = 0;
  /** Entries after the package that were recorded later. */
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

  /** As `fromPackage` with each of them; none is looked at if the listing has the very same bytes. */
  fromPackageAsSent(entries: SentEntries): void {
    this.#packaged.addSent(entries);
    this.#merge();
  }

  /**
   * The entries that the package has and the listing has not told yet, as far as they stand in `text` from `at` on as
   * they stand in the package, separated alike: how many, and where the last ends. Bytes that are the same say the
   * same.
   */
  match(text: Uint8Array, at: number): { count: number; end: number } {
    return this.#packaged.match(text, at);
  }

  /** @param matched how many entries stood before these that `match` knew. */
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

  /** No entry of the package follows. */
  endPackage(cut: PackageCut): void {
    this.#cut = cut;
    this.#merge();
  }

  /** True while more of the listing is needed. */
  get wantsListing(): boolean {
    return !this.#listingEnded && this.#later < ENOUGH_LATER && (this.#cut !== null || this.#packaged.isEnough);
  }

  /** Call once both have ended. */
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
 * By its line, where that was written while the package went on: one that has ended before it was cut since. Else by
 * the head that was stated before, else by its time. Null where it has none, and where the clocks of the service and
 * ours disagree about it: the slow one may be wrong, or the entry was kept back.
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
