import { createHash } from 'node:crypto';
import { hexText, utf8Text } from '../../core/bytes.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Run } from '../chain/runs.ts';
import type { SentEntries } from '../model/batch.ts';
import { ListingMerge, type ListingResult, type PackageCut } from './listing.ts';
import type { ListedEntry } from './packaged.ts';

/**
 * Formats an entry as a line of a listing: `SEQUENCE,DIGEST`, with the digest in lower-case hex, in the listing's
 * order. After the end of the compared package, a line also has the entry's time, which decides whether the package
 * should have the entry; it is empty if the service shows none.
 */
export function lineOf({ sequence, digest, timestamp }: ListedEntry, { withTime }: { withTime: boolean }): string {
  return withTime ? `${sequence},${digest},${timeOf(timestamp)}\n` : `${sequence},${digest}\n`;
}

/** Returns a time in the form that `LINE` accepts, although the service's times are parsed leniently. */
function timeOf(timestamp: string): string {
  const isPlain = timestamp.length <= MAX_TIME && PLAIN_TIME.test(timestamp);
  return isPlain ? timestamp : new Date(timestamp).toISOString();
}

const PLAIN_TIME = /^[0-9A-Za-z:.+-]*$/;
const MAX_TIME = 64;

/** Formats the entries from `from` to `to` (exclusive). */
export function linesOf(entries: SentEntries, from: number, to: number): string {
  let text = '';
  for (let index = from; index < to; index++) text += `${entries.sequence(index)},${entries.digest(index)}\n`;
  return text;
}

/** SHA-256 of the lines that entries would have in a listing, computed as they arrive. */
class LineDigest {
  readonly #hash = createHash('sha256');
  entries = 0;
  bytes = 0;

  add(entry: Pick<ListedEntry, 'sequence' | 'digest'>): void {
    this.#push(lineOf({ ...entry, timestamp: '' }, { withTime: false }), 1);
  }

  addSent(entries: SentEntries): void {
    this.#push(linesOf(entries, 0, entries.count), entries.count);
  }

  /** Adds entries without notes. */
  addRun({ batch: { sequences, stated, digestBytes }, from, to }: Run): void {
    const hex = hexText(stated, from * digestBytes, to * digestBytes);
    let text = '';
    for (let index = 0; index < to - from; index++)
      text += `${sequences[from + index]},${hex.slice(2 * index * digestBytes, 2 * (index + 1) * digestBytes)}\n`;
    this.#push(text, to - from);
  }

  /** Returns the digest; call once. */
  finish(): string {
    return this.#hash.digest('hex');
  }

  #push(text: string, entries: number): void {
    this.#hash.update(text);
    this.entries += entries;
    this.bytes += text.length;
  }
}

const LINE = /^(0|[1-9][0-9]{0,15}),((?:[0-9a-f]{2})*)(?:,([0-9A-Za-z:.+-]*))?$/;
/** Maximum length of a line; the longest, with a SHA-512 and a time, is far shorter. */
const MAX_LINE = 1024;

/** Reads the text of a listing, which may be cut anywhere. */
export class LineReader {
  #rest = '';

  /** @throws EvidenceError `unreadable` if a line is no line of a listing. */
  push(block: Uint8Array): ListedEntry[] {
    const lines = (this.#rest + utf8Text(block)).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_LINE) throw noLine(this.#rest);
    return lines.map(toEntry);
  }

  /** @throws EvidenceError `unreadable` if the last line has no end. */
  finish(): void {
    if (this.#rest !== '') throw noLine(this.#rest);
  }
}

function toEntry(line: string): ListedEntry {
  const [, sequence, digest, timestamp] = LINE.exec(line) ?? [];
  if (sequence === undefined || digest === undefined || !Number.isSafeInteger(Number(sequence))) throw noLine(line);
  const entry = { sequence: Number(sequence), digest, timestamp: timestamp ?? '' };
  return timestamp === undefined ? { ...entry, isWithin: true } : entry;
}

function noLine(line: string): EvidenceError {
  return new EvidenceError('unreadable', `${JSON.stringify(cutText(line, 100))} is no line of a listing`);
}

/**
 * Compares a package with the listing in its bundle, if the package is read first. If the listing begins with exactly
 * the package's lines, it lists the same entries: those lines are neither parsed nor kept.
 */
export class CarriedListing {
  readonly #lines = new LineDigest();
  readonly #begin = createHash('sha256');
  /** Number of bytes of the package's lines that the text must still have; null before the package has ended. */
  #left: number | null = null;
  readonly #reader = new LineReader();
  readonly #after: ListingMerge;
  #isInOrder = true;
  #failure: EvidenceError | null = null;

  constructor(streamId: string, cut: PackageCut) {
    this.#after = new ListingMerge(streamId);
    this.#after.endPackage(cut);
  }

  /** Receives the entries of the package in any of these forms. */
  readonly observer = {
    onEntry: (entry: ListedEntry) => this.#lines.add(entry),
    onRun: (run: Run) => this.#lines.addRun(run),
    onSent: (entries: SentEntries) => this.#lines.addSent(entries),
  };

  endPackage(): void {
    this.#left = this.#lines.bytes;
  }

  /** Takes more of the text; `finish` reports its faults. */
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
   * Ends the comparison after both have ended; call once. Returns null if the two must be merged entry by entry,
   * because they differ or the text came first.
   * @throws EvidenceError `unreadable` if a line after those of the package is no line of a listing.
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
