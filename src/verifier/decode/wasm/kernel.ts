import { base64Bytes, base64Text, hexBytes, hexText, utf8Bytes, utf8Text } from '../../../core/bytes.ts';
import { MAX_DEPTH } from '../../../core/json/canonical.ts';
import { giveBack, instantiate, type KernelExports } from './instance.ts';
import type { ChainKind, Encoding } from './kind.ts';
import { KernelRecords, RECORD_BYTES } from './records.ts';
import { KernelSettings } from './settings.ts';

export interface KernelOptions extends ChainKind {
  streamId: string;
  /** The number of a stream's first entry. */
  firstSequence: number;
  /** How many objects and arrays stand around an element, the array of entries included. */
  depth: number;
  /** By key id; with any, every entry's seal is checked. */
  keys: ReadonlyMap<string, Uint8Array>;
}

/** The entry with the highest number so far, as it states itself. */
export interface Tip {
  sequence: number;
  /** Lower-case hex; before the first entry what stands for "no predecessor". */
  digest: string;
  /** Milliseconds since 1970; not a number where entries have none. */
  time: number;
}

/** Before any time that a service states: the year 0. */
export const NO_TIME = Date.parse('0000-01-01T00:00:00.000Z');

/** What stands before the place where reading begins: the opening bracket, an entry, or the comma behind one. */
export type ReadingPlace = 'first' | 'after' | 'next';

const PLACES: readonly ReadingPlace[] = ['first', 'after', 'next'];

export interface KernelRun {
  /**
   * `needs-more`: the block ends here, perhaps within an entry; it must be given again from `offset` on, moved to the
   * start of `input`, with more behind it, or, if there is no more, to the slow path. `irregular`: what stands here is for the slow path. `closed`: here
   * stands the closing bracket of the array.
   */
  stop: 'needs-more' | 'irregular' | 'closed';
  /** How many entries before `offset` are regular. */
  regular: number;
  /** In `input`. */
  offset: number;
  place: ReadingPlace;
}

const STOPS: readonly KernelRun['stop'][] = ['needs-more', 'irregular', 'closed'];

/** Layout of `kernel.c`. */
const INPUT_BYTES = 2 ** 20;
const MAX_DIGITS = 128;
const DIGEST_BYTES = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 };

const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

function digitsOf(digest: Uint8Array, encoding: Encoding): string {
  if (encoding === 'hex') return hexText(digest);
  const digits = base64Text(digest).replace(/=+$/, '');
  return encoding === 'base64' ? digits : digits.replaceAll('+', '-').replaceAll('/', '_');
}

/**
 * Verifies the entries of one stream as long as they are *regular*: the very next of the chain in every respect that
 * `ChainWalk` checks, and written in a way whose canonical form is certain. The first one that is not, for whatever
 * reason, is for the slow path, which alone says what is wrong with it, if anything; then `setTip` says where the chain
 * stands, and the kernel goes on.
 *
 * A regular entry is one for which the slow path would have no finding and compute the same digest, and of which that
 * digest covers all but what is known not to be covered.
 */
// Over ten members: it is the whole of the module as the chain sees it.
export class ChainKernel implements Disposable {
  /** Where blocks are put, from its start on. */
  readonly input: Uint8Array;
  readonly #kernel: KernelExports;
  readonly #memory: DataView;
  readonly #kind: ChainKind;
  readonly #settings: KernelSettings;
  /** Of a digest. */
  readonly digestBytes: number;
  /** The number before that of a stream's first entry. */
  readonly #beforeFirst: number;
  #hasTip = false;
  #regular = 0;
  #closed = false;

  /** @throws EvidenceError `config` for a stream id or member names that the kernel cannot hold. */
  constructor(options: KernelOptions, kernel = instantiate()) {
    this.#kernel = kernel;
    this.#kind = options;
    this.#memory = new DataView(this.#kernel.memory.buffer);
    this.input = this.#bytes(this.#kernel.input.value, INPUT_BYTES);
    this.digestBytes = DIGEST_BYTES[options.digest.algorithm];
    this.#beforeFirst = options.firstSequence - 1;
    this.#kernel.begin(options.firstSequence, Math.max(0, MAX_DEPTH - options.depth));
    this.#settings = new KernelSettings(kernel, options, options.streamId);
    this.#settings.setKeys(options.keys);
  }

  /**
   * Says what the next entry must follow. Null: that is not known, and nothing is regular. So is nothing behind a tip
   * whose digest is none of this kind, or whose time is not between the years 0 and 9999.
   */
  setTip(tip: Tip | null): void {
    const time = tip === null || !this.#hasTimes ? 0 : tip.time;
    const digest = tip === null ? null : this.#digestOf(tip);
    this.#hasTip = digest !== null && time >= NO_TIME && time <= LATEST;
    this.#kernel.trust_tip(this.#hasTip ? 1 : 0);
    if (tip === null || digest === null || !this.#hasTip) return;
    const at = this.#kernel.tip.value;
    this.#memory.setFloat64(at, tip.sequence, true);
    this.#memory.setFloat64(at + 8, time, true);
    this.#bytes(at + 16, MAX_DIGITS).set(utf8Bytes(digitsOf(digest, this.#kind.digest.encoding)));
  }

  /** As `setTip` with what stands before a stream's first entry. */
  setGenesis(firstSequence: number): void {
    this.setTip({ sequence: firstSequence - 1, digest: this.#genesis, time: NO_TIME });
  }

  /**
   * For who begins in the middle of a chain: the next entry is taken to follow whatever it says that it follows, at
   * whatever time. Until an entry is regular, each run assumes anew.
   */
  assumeTip(): void {
    this.#hasTip = true;
    this.#kernel.assume_tip();
  }

  /** What was assumed to stand before the first regular entry behind `assumeTip`, at `NO_TIME`. */
  get assumed(): Tip {
    return this.#readTip(this.#kernel.assumed.value);
  }

  /** The last regular entry, or what was set since. */
  get tip(): Tip | null {
    return this.#hasTip ? this.#readTip(this.#kernel.tip.value) : null;
  }

  #readTip(at: number): Tip {
    const { encoding } = this.#kind.digest;
    const sequence = this.#memory.getFloat64(at, true);
    const digits = utf8Text(this.#bytes(at + 16, digitsOf(new Uint8Array(this.digestBytes), encoding).length));
    const digest = encoding === 'hex' ? digits : hexText(base64Bytes(digits, encoding) ?? new Uint8Array());
    return {
      sequence,
      digest: sequence === this.#beforeFirst ? this.#genesis : digest,
      time: this.#timeAt(at + 8),
    };
  }

  /**
   * What it is known that digests do not cover. An entry that leaves open more than that is not regular, so that the
   * slow path says what it is.
   */
  knowUncovered(uncovered: ReadonlySet<string>): void {
    this.#settings.know(uncovered);
  }

  /**
   * Reads the bytes of `input` from `start` to `end`; a few behind `end` are overwritten.
   * @param place what stands before them: of the first block `first`, later what the last run or the slow path left.
   */
  run(start: number, end: number, place: ReadingPlace): KernelRun {
    if (this.#closed) throw new TypeError('the kernel is closed');
    this.#regular = 0;
    if (!this.#settings.areCertain) return { stop: 'irregular', regular: 0, offset: start, place };
    if (start < 0 || start > end || end > this.input.length) throw new RangeError('the block is not within the input');
    this.#kernel.run(start, end, PLACES.indexOf(place));
    const at = this.#kernel.report.value;
    const read = (field: number) => this.#memory.getUint32(at + 4 * field, true);
    this.#regular = read(3);
    const offset = read(2);
    const stop = STOPS[read(0)] ?? 'irregular';
    return {
      // What fills all of the input and is not whole yet never will be.
      stop: stop === 'needs-more' && offset === 0 && end === this.input.length ? 'irregular' : stop,
      regular: this.#regular,
      offset,
      place: PLACES[read(1)] ?? 'first',
    };
  }

  /** The ids of the keys that regular entries have named so far. */
  get usedKeyIds(): string[] {
    return this.#settings.usedKeyIds;
  }

  /** The regular entries of the last run, valid until the next; offsets are in `input`. */
  get records(): KernelRecords {
    const { records, digests } = this.#kernel;
    return new KernelRecords(this.#kind, {
      records: this.#bytes(records.value, this.#regular * RECORD_BYTES),
      digests: this.#bytes(digests.value, this.#regular * this.digestBytes),
      digestBytes: this.digestBytes,
      bytes: this.input,
    });
  }

  /** Forgets the keys; the kernel must not be used afterwards: its memory serves another one. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hasTip = false;
    this.#regular = 0;
    giveBack(this.#kernel);
  }

  get #hasTimes(): boolean {
    return this.#kind.roles.timestamp !== null;
  }

  #timeAt(at: number): number {
    return this.#hasTimes ? this.#memory.getFloat64(at, true) : Number.NaN;
  }

  /** What stands for "no predecessor" among digests. */
  get #genesis(): string {
    return this.#kind.genesis === 'zeros' ? '00'.repeat(this.digestBytes) : '';
  }

  /** Before the first entry, and nowhere else, what stands for "no predecessor"; null for what is no digest. */
  #digestOf({ sequence, digest }: Tip): Uint8Array | null {
    const isGenesis = digest === this.#genesis;
    if (isGenesis !== (sequence === this.#beforeFirst)) return null;
    if (isGenesis) return new Uint8Array(this.digestBytes);
    return /^[0-9a-f]*$/.test(digest) && digest.length === 2 * this.digestBytes ? hexBytes(digest) : null;
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#kernel.memory.buffer, at, length);
  }
}
