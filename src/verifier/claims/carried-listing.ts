import { createHash } from 'node:crypto';
import { type EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Run } from '../chain/runs.ts';
import type { SentEntries } from '../model/sent.ts';
import { ListingMerge, type ListingResult, type PackageCut } from './listing.ts';
import { LineDigest, LineReader } from './listing-text.ts';
import type { ListedEntry } from './packaged.ts';

/**
 * Compares a package with the listing that a bundle carries as text, where the package is read first. A text that begins
 * with the very lines of the package lists the same entries: those lines are not read one by one, and nothing is kept.
 */
export class CarriedListing {
  readonly #lines = new LineDigest();
  readonly #begin = createHash('sha256');
  /** The number of the package's lines that the text is still to have; null before the package has ended. */
  #left: number | null = null;
  readonly #reader = new LineReader();
  readonly #after: ListingMerge;
  #isInOrder = true;
  #failure: EvidenceError | null = null;

  constructor(streamId: string, cut: PackageCut) {
    this.#after = new ListingMerge(streamId);
    this.#after.endPackage(cut);
  }

  /** Sees the entries of the package, in the one or the other way. */
  readonly observer = {
    onEntry: (entry: ListedEntry) => this.#lines.add(entry),
    onRun: (run: Run) => this.#lines.addRun(run),
    onSent: (entries: SentEntries) => this.#lines.addSent(entries),
  };

  endPackage(): void {
    this.#left = this.#lines.bytes;
  }

  /** Takes more of the text; what is wrong with it is said at the end. */
  push(block: Uint8Array): void {
    if (this.#left === null) this.#isInOrder = false;
    if (this.#left === null || !this.#isInOrder || this.#failure !== null) return;
    const own = Math.min(this.#left, block.length);
    this.#begin.update(block.subarray(0, own));
    this.#left -= own;
    if (own === block.length) return;
    try {
      this.#after.fromListing(this.#reader.push(block.subarray(own)));
    } catch (error) {
      if (!isEvidenceError(error)) throw error;
      this.#failure = error;
    }
  }

  /**
   * Call once both have ended. Null where the two are to be merged entry by entry: they differ, or the text came first.
   * @throws EvidenceError `unreadable` for a line after those of the package that is none.
   */
  finish(): ListingResult | null {
    const isSame = this.#begin.digest('hex') === this.#lines.finish();
    if (!this.#isInOrder || this.#left !== 0 || !isSame) return null;
    if (this.#failure !== null) throw this.#failure;
    this.#reader.finish();
    this.#after.endListing();
    const result = this.#after.result();
    const { entries } = this.#lines;
    const { lines, listed, same } = result;
    return { ...result, lines: lines + entries, listed: listed + entries, same: same + entries };
  }
}
