import { type ChainKernel, type KernelRun, NO_TIME, type Tip } from '../decode/wasm/kernel.ts';
import { type Activity, ActivityCount } from './activity.ts';
import { type DatedEntries, type DatedQuestion, DatedSearch } from './dated.ts';
import { DigestRing, REMEMBERED, type RegularEntries, type RegularEntry, type RegularWalk } from './regular.ts';
import { type Fill, openKernel, type RegularOptions, readOn, regularEntries } from './regular-reader.ts';

/**
 * Regular entries that were read from the middle of a package on, by one who did not know what stands before them and
 * assumed it: the entry that the first of them says that it follows.
 *
 * Who reads the package from its start may take them as if they had been read there, if what was read there ends at
 * the stretch's first byte, in the array of entries and behind a comma, if the chain's tip is the assumed one, in number
 * and digest, and no later than the first entry of the stretch, and if no less is known there of what digests do not
 * cover. For whether an entry is regular depends on its own bytes, on what a kernel was told of the stream, on the tip
 * that it follows, and on what is known not to be covered, of which more makes no entry less regular; of a tip the
 * kernel compares number, digest and time, and of these the first entry sees the very same, but for the time, which is
 * compared here. Behind the first entry the tips are the stretch's own. So a kernel that had gone on from the start
 * would have found the same entries regular, to the same byte. Where any of this is not so, the stretch says nothing
 * about the package: a wrong guess costs time, and never a finding.
 *
 * Plain data: it passes between threads.
 */
// Over ten members: it is the one message that a thread sends of what it read.
export interface Stretch {
  /** Offsets in the package: of the first entry, and where the reading ended. */
  start: number;
  end: number;
  /** What stands before `end`: an entry, or the comma behind one. */
  place: 'after' | 'next';
  assumed: Pick<Tip, 'sequence' | 'digest'>;
  count: number;
  firstTime: number;
  tip: Tip;
  /** Of the newest entries, as many as a walk remembers. */
  digests: Uint8Array<ArrayBuffer>;
  digestBytes: number;
  activity: Activity;
  /** See `RegularEntries`. */
  keyIds: readonly string[];
  /** The first and the last entry as they were sent. */
  ends: { first: Uint8Array; last: Uint8Array };
  /** What was known not to be covered by digests. */
  uncovered: ReadonlySet<string>;
  /** Of the entries whose number is watched. */
  watched: ReadonlyMap<number, RegularEntry>;
  /** Of the entries that are looked for by their time. */
  dated: DatedEntries;
}

/** What has to be known to read stretches of a package. */
export interface StretchOptions extends RegularOptions {
  /** Sequence numbers of entries that the walk wants to see. */
  watch: ReadonlySet<number>;
  /** What the walk looks for by time. */
  dated: readonly DatedQuestion[];
  /** What is known not to be covered by digests: entries that leave open more are not regular. */
  uncovered: ReadonlySet<string>;
}

/** Whether the walk stands where the stretch begins, as far as it depends on what was walked. */
export function isNextOf({ tip, uncovered }: Pick<RegularWalk, 'tip' | 'uncovered'>, stretch: Stretch): boolean {
  const { assumed, firstTime } = stretch;
  if (tip === null || tip.sequence !== assumed.sequence || tip.digest !== assumed.digest) return false;
  // Regular entries have a time or, where the contract knows of none, no entry has one.
  const isInTime = Number.isNaN(firstTime) ? Number.isNaN(tip.time) : tip.time <= firstTime;
  return isInTime && [...stretch.uncovered].every((name) => uncovered.has(name));
}

export function entriesOf(stretch: Stretch): RegularEntries {
  const { assumed, count, firstTime, tip, digests, digestBytes, activity, keyIds, ends, watched, dated } = stretch;
  const firstSequence = assumed.sequence + 1;
  return {
    count,
    firstSequence,
    firstTime,
    tip,
    digests,
    digestBytes,
    activity,
    keyIds,
    ends,
    find: (sequence) => watched.get(sequence),
    searchDated: (search) => search.addAll(dated),
  };
}

const OPEN_OBJECT = 0x7b;

/**
 * Where an entry begins is found by trying: an object that a kernel finds regular, whatever stands before it, is taken
 * for one. Bytes that are made of beginnings without end are not tried for ever.
 */
const MAX_TRIES = 256;
const TRY_BYTES = 64 * 1024;

/** Reads stretches of one package, one after the other. */
export class StretchReader implements Disposable {
  readonly #kernel: ChainKernel;
  readonly #options: StretchOptions;

  private constructor(kernel: ChainKernel, options: StretchOptions) {
    this.#kernel = kernel;
    this.#options = options;
    kernel.knowUncovered(options.uncovered);
  }

  /** Null for a stream that a kernel cannot take. */
  static open(options: StretchOptions): StretchReader | null {
    const kernel = openKernel(options);
    return kernel === null ? null : new StretchReader(kernel, options);
  }

  /**
   * The longest stretch within a range of the package from the first entry on that begins in it; null where none is
   * found.
   * @param offset of the range.
   * @param fill gives its bytes.
   */
  read(offset: number, fill: Fill): Stretch | null {
    const { input } = this.#kernel;
    const filled = fill(input.subarray(0, TRY_BYTES));
    const found = this.#findEntry(filled);
    if (found === null) return null;
    const { assumed } = this.#kernel;
    const { uncovered } = this.#options;
    const taken = new Taken(this.#options, this.#kernel.digestBytes);
    const { end, place } = readOn(this.#kernel, fill, { filled, run: found.run }, () =>
      taken.add(regularEntries(this.#kernel)),
    );
    return { start: offset + found.at, end: offset + end, place, assumed, uncovered, ...taken.result() };
  }

  /** Forgets the keys. */
  [Symbol.dispose](): void {
    this.#kernel[Symbol.dispose]();
  }

  /** Tries the objects in the first `end` bytes of the input. */
  #findEntry(end: number): { at: number; run: KernelRun } | null {
    const { input } = this.#kernel;
    let at = input.indexOf(OPEN_OBJECT);
    for (let tries = 0; tries < MAX_TRIES && at >= 0 && at < end; tries++) {
      this.#kernel.assumeTip();
      const run = this.#kernel.run(at, end, 'next');
      if (run.regular > 0) return { at, run };
      at = input.indexOf(OPEN_OBJECT, at + 1);
    }
    return null;
  }
}

/** What is kept of the entries of a stretch. */
class Taken {
  readonly #watch: ReadonlySet<number>;
  readonly #digestBytes: number;
  readonly #recent: DigestRing;
  readonly #watched = new Map<number, RegularEntry>();
  readonly #activity = new ActivityCount();
  readonly #dated: DatedSearch;
  #count = 0;
  #firstTime = NO_TIME;
  #tip: Tip | null = null;
  #keyIds: readonly string[] = [];
  #ends: Stretch['ends'] | null = null;

  constructor({ watch, dated }: Pick<StretchOptions, 'watch' | 'dated'>, digestBytes: number) {
    this.#watch = watch;
    this.#dated = new DatedSearch(dated);
    this.#digestBytes = digestBytes;
    this.#recent = new DigestRing(digestBytes);
  }

  add(entries: RegularEntries): void {
    if (this.#count === 0) this.#firstTime = entries.firstTime;
    this.#count += entries.count;
    this.#activity.addAll(entries.activity);
    this.#tip = entries.tip;
    this.#keyIds = entries.keyIds;
    this.#ends = { first: this.#ends?.first ?? entries.ends.first.slice(), last: entries.ends.last.slice() };
    this.#recent.add(entries);
    entries.searchDated(this.#dated);
    for (const sequence of this.#watch) {
      const entry = entries.find(sequence);
      if (entry !== undefined) this.#watched.set(sequence, entry);
    }
  }

  result(): Omit<Stretch, 'start' | 'end' | 'place' | 'assumed' | 'uncovered'> {
    if (this.#tip === null || this.#ends === null) throw new TypeError('a stretch without entries is none');
    const digests = this.#recent.upTo(this.#tip.sequence, Math.min(this.#count, REMEMBERED));
    return {
      count: this.#count,
      firstTime: this.#firstTime,
      tip: this.#tip,
      digests,
      digestBytes: this.#digestBytes,
      activity: this.#activity.finish(),
      keyIds: this.#keyIds,
      ends: this.#ends,
      watched: this.#watched,
      dated: this.#dated.found,
    };
  }
}
