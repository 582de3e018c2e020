import { type Finding, FindingLog, type FindingPlace, toFinding } from '../chain/finding.ts';

/** An entry as the service lists it, or as a package holds it. */
export interface ListedEntry {
  sequence: number;
  digest: string;
  /** RFC 3339; empty where the service shows none. */
  timestamp: string;
}

/** What came of holding a package against the service's own listing of its entries. */
export interface ListingResult {
  /** Entries that both have, with the same digest. */
  same: number;
  /** Entries that differ, exactly. */
  differences: number;
  /** Where they do, as far as it was kept. */
  deviations: Deviation[];
}

/** Which listed entries need not be in a package, because they were recorded while or after it was made. */
export interface PackageCut {
  /** When the service made it; RFC 3339 or an HTTP date. */
  madeAt: string | null;
  /** The stream's head before it was made. */
  statedHead: number | null;
}

export interface Deviation extends Omit<FindingPlace, 'entryId'> {
  message: string;
}

/**
 * Holds a package against an independent listing of the same entries while both arrive, each in the order of its
 * sequence numbers. What one of them has already told waits for the other; the caller keeps that short by asking
 * `wantsListing`.
 */
export class ListingMerge {
  readonly #streamId: string;
  readonly #log = new FindingLog();
  readonly #packaged = new Queue();
  readonly #listed = new Queue();
  #listingEnded = false;
  /** Set when the package has ended. */
  #cut: PackageCut | null = null;
  #same = 0;

  constructor(streamId: string) {
    this.#streamId = streamId;
  }

  fromPackage(entry: ListedEntry): void {
    this.#packaged.add(entry);
    this.#merge();
  }

  fromListing(entries: readonly ListedEntry[]): void {
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

  /** Whether more of the listing is needed to go on. */
  get wantsListing(): boolean {
    return !this.#listingEnded && (this.#cut !== null || !this.#packaged.empty);
  }

  /** Call once both have ended. */
  result(): ListingResult {
    return { same: this.#same, differences: this.#log.total(), deviations: this.#log.list().map(toDeviation) };
  }

  #merge(): void {
    for (;;) {
      const [packaged, listed] = [this.#packaged.first, this.#listed.first];
      if (packaged === undefined) {
        this.#mergeBehindPackage();
        return;
      }
      if (listed === undefined && !this.#listingEnded) return;
      if (listed !== undefined && listed.sequence < packaged.sequence) {
        this.#listed.take();
        this.#reportAbsent(listed);
      } else if (listed === undefined || listed.sequence > packaged.sequence) {
        this.#packaged.take();
        this.#report(
          packaged.sequence,
          'is in the package, but the service does not list it',
          undefined,
          packaged.digest,
        );
      } else {
        this.#packaged.take();
        this.#listed.take();
        if (listed.digest === packaged.digest) this.#same++;
        else this.#report(packaged.sequence, 'is listed with another digest', listed.digest, packaged.digest);
      }
    }
  }

  #mergeBehindPackage(): void {
    if (this.#cut === null) return;
    for (let entry = this.#listed.take(); entry !== undefined; entry = this.#listed.take()) {
      if (isMissed(entry, this.#cut)) this.#reportAbsent(entry);
      // Later ones are later still.
      else this.#listingEnded = true;
    }
  }

  #reportAbsent({ sequence, digest }: ListedEntry): void {
    this.#report(sequence, 'is listed by the service, but it is not in the package', digest, undefined);
  }

  #report(sequence: number, what: string, expected: string | undefined, actual: string | undefined): void {
    this.#log.add(
      toFinding('completeness/listing-differs', this.#streamId, `entry ${sequence} ${what}`, {
        sequence,
        ...(expected === undefined ? {} : { expected }),
        ...(actual === undefined ? {} : { actual }),
      }),
    );
  }
}

/** By its time where both times are known, else by its number; otherwise it is missed. */
function isMissed({ sequence, timestamp }: ListedEntry, { madeAt, statedHead }: PackageCut): boolean {
  const [recorded, made] = [Date.parse(timestamp), madeAt === null ? Number.NaN : Date.parse(madeAt)];
  if (!Number.isNaN(recorded) && !Number.isNaN(made)) return recorded < made;
  return statedHead === null || sequence <= statedHead;
}

function toDeviation({
  code: _code,
  severity: _severity,
  stream_id: _id,
  next_step: _next,
  ...place
}: Finding): Deviation {
  return place;
}

/** First in, first out; what was taken is let go of in blocks. */
class Queue {
  #entries: ListedEntry[] = [];
  #at = 0;

  add(entry: ListedEntry): void {
    this.#entries.push(entry);
  }

  get first(): ListedEntry | undefined {
    return this.#entries[this.#at];
  }

  get empty(): boolean {
    return this.#at === this.#entries.length;
  }

  take(): ListedEntry | undefined {
    const entry = this.#entries[this.#at];
    if (entry === undefined) return undefined;
    this.#at++;
    if (this.#at === 1024) {
      this.#entries = this.#entries.slice(this.#at);
      this.#at = 0;
    }
    return entry;
  }
}
