import { areSameBytes } from '../../core/bytes.ts';
import { entryOf, type SentEntries } from '../model/batch.ts';

/** An entry as the service lists it, or as a package holds it. */
export interface ListedEntry {
  sequence: number;
  digest: string;
  /** RFC 3339; empty where the service shows none. */
  timestamp: string;
  /** Read from a listing that was kept: by its line, the package that it was compared with had not ended there. */
  isWithin?: boolean;
}

/** Entries that wait for a listing as they were sent are as many bytes as a page of it has, as far as pages are known. */
const FIRST_PAGE_BYTES = 2 ** 20;
const MAX_PAGE_BYTES = 8 * 2 ** 20;

const COMMA = 0x2c;

/** Entries of a package that a listing has yet to tell, in the order in which they came. */
export class Packaged {
  readonly #entries = new Queue<ListedEntry>();
  /** Behind `#entries`; of the first one, `#taken` entries are gone. */
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

  /** True if there are enough that a page of the listing can be of use. */
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

  /** See `ListingMerge`. */
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
   * Lets go of the first `count` of those that were sent.
   * @param see is given them before, those from `from` on and before `to`.
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

/** Behind the last of the entries from `first` on with which, as they were sent, the text begins. */
function matchOne(entries: SentEntries, first: number, text: Uint8Array): number {
  const begin = entries.start(first);
  const isSame = (from: number, to: number) =>
    areSameBytes(entries.bytes.subarray(from, to), text.subarray(from - begin, to - begin));
  let same = first;
  let after = entries.count;
  // The end of a page, or the place where it differs, is found by halves, each byte compared once or twice.
  while (same < after) {
    const middle = Math.ceil((same + after) / 2);
    if (isSame(same === first ? begin : entries.end(same - 1), entries.end(middle - 1))) same = middle;
    else after = middle - 1;
  }
  return same;
}

/** First in, first out; what was taken is let go of in blocks. */
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
