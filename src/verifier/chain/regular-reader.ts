import { isEvidenceError } from '../../core/errors.ts';
import type { ElementsRead } from '../../core/json/elements.ts';
import { SpareMemory } from '../../core/spare-memory.ts';
import { ChainKernel, type KernelOptions, type KernelRun, type ReadingPlace } from '../decode/wasm/kernel.ts';
import type { SealKeys } from '../model/entry.ts';
import type { Contract } from '../reading/contract.ts';
import { ActivityCount } from './activity.ts';
import type { RegularEntries, RegularWalk } from './regular.ts';
import type { SentEntries } from './sent.ts';

/** What a kernel has to know of a stream. */
export interface RegularOptions {
  streamId: string;
  kind: NonNullable<Contract['plainKind']>;
  firstSequence: number;
  keys: SealKeys;
  /** How many objects and arrays stand around an entry. */
  depth: number;
}

/** Null for a stream that the kernel cannot take. */
export function openKernel({ kind, keys, ...rest }: RegularOptions): ChainKernel | null {
  const exported = new Map([...keys].map(([id, key]) => [id, key.export()] as const));
  const options: KernelOptions = { ...rest, ...kind, keys: exported };
  try {
    return new ChainKernel(options);
  } catch (error) {
    if (isEvidenceError(error)) return null;
    throw error;
  } finally {
    for (const key of exported.values()) key.fill(0);
  }
}

/**
 * Puts the next bytes into what it is given, as many as fit, and returns their number: fewer only where what is to be
 * read ends.
 */
export type Fill = (into: Uint8Array) => number;

/** Where reading ended, from the first of the bytes that were given on. */
export interface Pulled {
  end: number;
  place: ElementsRead['place'];
  /** What stands there is not known: with more bytes, more could be regular. */
  isOpen: boolean;
}

/** Is given what the walk has taken, and can have a copy of it as it was sent. */
type OnRegular = (entries: RegularEntries, sent: () => SentEntries) => void;

/**
 * Has a kernel read on, from where the bytes come into its own memory, for as long as entries are regular.
 * @param filled how many bytes its input holds.
 * @param run what it has made of them.
 * @param onRegular is called when a run has found some, before the next one.
 */
export function readOn(
  kernel: ChainKernel,
  fill: Fill,
  given: { filled: number; run: KernelRun },
  onRegular: () => void,
): Pulled {
  const { input } = kernel;
  let [start, { filled, run }] = [0, given];
  for (;;) {
    if (run.regular > 0) onRegular();
    const isOpen = run.stop === 'needs-more';
    const end = start + run.offset;
    const place = run.place === 'after' ? 'after' : 'next';
    if (!isOpen) return { end, place, isOpen };
    input.copyWithin(0, run.offset, filled);
    filled -= run.offset;
    const added = fill(input.subarray(filled));
    if (added === 0) return { end, place, isOpen };
    start = end;
    filled += added;
    run = kernel.run(0, filled, place);
  }
}

const FIRST_BLOCK_BYTES = 64 * 1024;
const LEAST_BLOCK_BYTES = 4 * 1024;
const MAX_SPARE = 8;

/** Has a kernel read the entries of one stream for as long as they are regular. */
export class RegularReader implements Disposable {
  readonly #kernel: ChainKernel;
  readonly #walk: RegularWalk;
  /** For what is kept as it was sent. */
  readonly #spare = new SpareMemory(MAX_SPARE);
  #blockBytes = FIRST_BLOCK_BYTES;

  constructor(kernel: ChainKernel, walk: RegularWalk) {
    this.#kernel = kernel;
    this.#walk = walk;
  }

  /**
   * Reads from an entry's first byte on.
   * @param onRegular sees what the walk has taken, and can have a copy of it as it was sent.
   */
  read(bytes: Uint8Array, start: number, onRegular: OnRegular): ElementsRead {
    const kernel = this.#kernel;
    kernel.setTip(this.#walk.tip);
    kernel.knowUncovered(this.#walk.uncovered);
    let at = start;
    let place: ReadingPlace = 'next';
    let any = false;
    for (;;) {
      const block = bytes.subarray(at, at + Math.min(this.#blockBytes, kernel.input.length));
      kernel.input.set(block);
      const run = kernel.run(0, block.length, place);
      if (run.regular > 0) {
        this.#take(onRegular);
        any = true;
      }
      const isLast = at + block.length === bytes.length;
      at += run.offset;
      place = run.place;
      this.#adapt(run.stop === 'needs-more');
      const isTooLarge = run.offset === 0 && block.length === kernel.input.length;
      if (run.stop !== 'needs-more' || isLast || isTooLarge) break;
    }
    return { any, end: at, place: place === 'after' ? 'after' : 'next' };
  }

  /**
   * Reads from where the bytes come.
   * @param begin is given the first of them, and says where in them entries are to be read and what stands before.
   */
  pull(fill: Fill, begin: (bytes: Uint8Array) => Omit<Pulled, 'isOpen'> | null, onRegular: OnRegular): Pulled | null {
    const kernel = this.#kernel;
    const filled = fill(kernel.input);
    const begun = begin(kernel.input.subarray(0, filled));
    if (begun === null) return null;
    kernel.setTip(this.#walk.tip);
    kernel.knowUncovered(this.#walk.uncovered);
    const run = kernel.run(begun.end, filled, begun.place);
    return readOn(kernel, fill, { filled, run }, () => this.#take(onRegular));
  }

  #take(onRegular: OnRegular): void {
    const entries = regularEntries(this.#kernel);
    this.#walk.pushRegular(entries);
    onRegular(entries, () => this.#kernel.records.copy(this.#spare));
  }

  /** Bytes are copied into the kernel's memory, so what is offered follows what was taken the last time. */
  #adapt(tookAll: boolean): void {
    const bytes = tookAll ? this.#blockBytes * 2 : this.#blockBytes / 2;
    this.#blockBytes = Math.min(Math.max(bytes, LEAST_BLOCK_BYTES), this.#kernel.input.length);
  }

  /** Forgets the keys. */
  [Symbol.dispose](): void {
    this.#kernel[Symbol.dispose]();
  }
}

function bytesOf(records: ChainKernel['records'], index: number): Uint8Array {
  return records.bytes.subarray(records.start(index), records.end(index));
}

/** The regular entries of a kernel's last run, of which there must be some. */
export function regularEntries({
  tip,
  records,
  usedKeyIds,
}: Pick<ChainKernel, 'tip' | 'records' | 'usedKeyIds'>): RegularEntries {
  if (tip === null) throw new TypeError('a kernel without a tip has no regular entries');
  const { count, digests, digestBytes } = records;
  const firstSequence = records.sequence(0);
  const activity = new ActivityCount();
  activity.addOrdered(count, (index) => records.time(index));
  return {
    count,
    firstSequence,
    firstTime: records.time(0),
    tip,
    digests,
    digestBytes,
    activity: activity.finish(),
    keyIds: usedKeyIds,
    ends: { first: bytesOf(records, 0), last: bytesOf(records, count - 1) },
    searchDated: (search) => search.addOrdered(firstSequence, count, (index) => records.time(index)),
    find(sequence) {
      const index = sequence - firstSequence;
      if (index < 0 || index >= count) return undefined;
      return { digest: records.digest(index), timestamp: records.timestamp(index) };
    },
  };
}
