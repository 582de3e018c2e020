import { areSameBytes } from '../../core/bytes.ts';
import { entryOf, type SentEntries } from '../model/batch.ts';

/** Entry as the service lists it or a package holds it. */
export interface ListedEntry {
  sequence: number;
  digest: string;
  /** RFC 3339; empty if the service shows none. */
  timestamp: string;
  /** True for a line of a recorded listing that was written before the compared package ended. */
  isWithin?: boolean;
}

/** Sizes of a listing's page. Packaged entries wait as sent until they fill a page of the largest size seen. */
const FIRST_PAGE_BYTES = 2 ** 20;
const MAX_PAGE_BYTES = 8 * 2 ** 20;

const COMMA = 0x2c;

/** Entries of a package that the listing has not reached yet, in order of arrival. */
export class Packaged {
  readonly #entries = new Queue<ListedEntry>();
  /** Entries after `#entries`; the first `#taken` of the first item are gone. */
  readonly #sent: SentEntries[] = [];
  #taken = 0;
  #bytes = 0;
  #pageBytes = FIRST_PAGE_BYTES;

  add(entry: ListedEntry): void {
    for (let sent = this.#takeSent(); sent !== undefined; sent = this.#takeSent()) this.#entries.add(sent);
    this.#entries.add(entry);
  }

  addSent(entries: SentEntries): void {
    this.#sent.push(entries);
    this.#bytes += entries.bytes.length;
  }

  /** True if enough entries wait to make use of a page of the listing. */
  get isEnough(): boolean {
    return !this.#entries.empty || this.#bytes >= this.#pageBytes;
  }

  /** Returns the first entry, and leaves it there. */
  first(): ListedEntry | undefined {
    if (!this.#entries.empty) return this.#entries.first;
    const sent = this.#takeSent();
    if (sent !== undefined) this.#entries.add(sent);
    return sent;
  }

  take(): void {
    this.#entries.take();
  }

  /** Matches entries with text; see `ListingMerge`. */
  match(text: Uint8Array, at: number): { count: number; end: number } {
    this.#pageBytes = Math.min(Math.max(this.#pageBytes, text.length), MAX_PAGE_BYTES);
    let count = 0;
    let end = at;
    if (!this.#entries.empty) return { count, end };
    let first = this.#taken;
    for (const entries of this.#sent) {
      if (count > 0 && text[end] !== COMMA) break;
      const begin = count === 0 ? at : end + 1;
      const after = matchOne(entries, first, text.subarray(begin));
      if (after === first) break;
      count += after - first;
      end = begin + entries.end(after - 1) - entries.start(first);
      if (after < entries.count) break;
      first = 0;
    }
    return { count, end };
  }

  /**
   * Drops the first `count` entries that were added as sent.
   * @param see called with the entries from `from` to `to` (exclusive) before they are dropped.
   */
  drop(count: number, see: (entries: SentEntries, from: number, to: number) => void): void {
    let left = count;
    for (let entries = this.#sent[0]; left > 0 && entries !== undefined; entries = this.#sent[0]) {
      const dropped = Math.min(left, entries.count - this.#taken);
      left -= dropped;
      see(entries, this.#taken, this.#taken + dropped);
      this.#advance(entries, dropped);
    }
  }

  #takeSent(): ListedEntry | undefined {
    const entries = this.#sent[0];
    if (entries === undefined) return undefined;
    const entry = entryOf(entries, this.#taken);
    this.#advance(entries, 1);
    return entry;
  }

  #advance(entries: SentEntries, count: number): void {
    this.#taken += count;
    if (this.#taken < entries.count) return;
    this.#sent.shift();
    this.#bytes -= entries.bytes.length;
    this.#taken = 0;
    entries.release();
  }
}

/** Returns the index after the last entry, from `first` on, with whose bytes the text begins. */
function matchOne(entries: SentEntries, first: number, text: Uint8Array): number {
  const begin = entries.start(first);
  const isSame = (from: number, to: number) =>
    areSameBytes(entries.bytes.subarray(from, to), text.subarray(from - begin, to - begin));
  let same = first;
  let after = entries.count;
  // Bisects for the end of the page or the first difference; compares each byte once or twice.
  while (same < after) {
    const middle = Math.ceil((same + after) / 2);
    if (isSame(same === first ? begin : entries.end(same - 1), entries.end(middle - 1))) same = middle;
    else after = middle - 1;
  }
  return same;
}

/** First-in, first-out queue that frees taken items in blocks. */
export class Queue<Item> {
  #items: Item[] = [];
  #at = 0;

  add(item: Item): void {
    this.#items.push(item);
  }

  get first(): Item | undefined {
    return this.#items[this.#at];
  }

  get empty(): boolean {
    return this.#at === this.#items.length;
  }

  take(): Item | undefined {
    const item = this.#items[this.#at];
    if (item === undefined) return undefined;
    this.#at++;
    if (this.#at === 1024) {
      this.#items = this.#items.slice(this.#at);
      this.#at = 0;
    }
    return item;
  }
}
