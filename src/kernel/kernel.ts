import { MAX_DEPTH } from '../encoding/canonical.ts';
import { sha256 } from '../encoding/digest.ts';
import { EvidenceError } from '../errors.ts';
import { giveBack, instantiate, type KernelExports } from './instance.ts';

/** Names of top-level members of entries; null for what entries do not say. ASCII without quotes and backslashes. */
export interface KernelRoles {
  sequence: string;
  previous: string;
  digest: string;
  streamId: string | null;
  timestamp: string | null;
  entryId: string | null;
  seal: { value: string; keyId: string } | null;
}

/**
 * The kind of chain that the kernel knows: digests are the hexadecimal SHA-256 of an entry's RFC 8785 form without some
 * members, zeros stand for "no predecessor", timestamps are text, seals are the hexadecimal HMAC-SHA-256 of the digest's
 * text. Whether a contract is of this kind is for the caller to know.
 */
export interface KernelOptions {
  streamId: string;
  roles: KernelRoles;
  /** Top-level members that are not hashed. */
  omitted: readonly string[];
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
  digest: string;
  /** Milliseconds since 1970; not a number where entries have none. */
  time: number;
}

/** Before any time that a service states: the year 0. */
export const NO_TIME = Date.parse('0000-01-01T00:00:00.000Z');

/** What stands before the place where reading begins: the opening bracket, an entry, or the comma behind one. */
export type Place = 'first' | 'after' | 'next';

const PLACES: readonly Place[] = ['first', 'after', 'next'];

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
  place: Place;
}

const STOPS: readonly KernelRun['stop'][] = ['needs-more', 'irregular', 'closed'];

/** A regular entry of the last run. Offsets are in `input`. */
export interface KernelRecord {
  sequence: number;
  /** 32 bytes, valid until the next run. */
  digest: Uint8Array;
  start: number;
  end: number;
  /** Of the 24 characters of the timestamp; null where entries have none. */
  timestamp: number | null;
}

/** Layout of `kernel.c`. */
const INPUT_BYTES = 2 ** 20;
const EXCHANGE_BYTES = 4096;
const RECORD_BYTES = 24;
export const DIGEST_BYTES = 32;
const NONE = 0xffffffff;
const ROLE = { sequence: 0, previous: 1, digest: 2, streamId: 3, timestamp: 4, entryId: 5, seal: 6, sealKeyId: 7 };
const NO_ROLE = 8;
const HMAC_BLOCK = 64;

/**
 * Verifies the entries of one stream as long as they are *regular*: the very next of the chain in every respect that
 * `ChainWalk` checks, and written in a way whose canonical form is certain. The first one that is not, for whatever
 * reason, is for the slow path, which alone says what is wrong with it, if anything; then `setTip` says where the chain
 * stands, and the kernel goes on.
 *
 * A regular entry is one for which the slow path would have no finding and compute the same digest.
 */
export class ChainKernel {
  /** Where blocks are put, from its start on. */
  readonly input: Uint8Array;
  readonly #kernel: KernelExports;
  readonly #memory: DataView;
  readonly #hasTimestamps: boolean;
  #hasTip = false;
  #regular = 0;
  #closed = false;

  /** @throws EvidenceError `config` for a stream id or member names that the kernel cannot hold. */
  constructor(options: KernelOptions, kernel = instantiate()) {
    this.#kernel = kernel;
    this.#memory = new DataView(this.#kernel.memory.buffer);
    this.input = this.#bytes(this.#kernel.input.value, INPUT_BYTES);
    this.#hasTimestamps = options.roles.timestamp !== null;
    this.#kernel.begin(options.firstSequence, Math.max(0, MAX_DEPTH - options.depth));
    this.#nameMembers(options);
    this.#expectStream(options.streamId);
    if (options.keys.size === 0 || options.roles.seal === null) return;
    this.#kernel.check_seals();
    for (const [id, key] of options.keys) this.#addKey(id, key);
  }

  /**
   * Says what the next entry must follow. Null: that is not known, and nothing is regular. So is nothing behind a tip
   * whose digest is not 64 lower-case hexadecimal digits, or whose time is not between the years 0 and 9999.
   */
  setTip(tip: Tip | null): void {
    const time = tip === null || !this.#hasTimestamps ? 0 : tip.time;
    const timestamp = Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : '';
    this.#hasTip = tip !== null && /^[0-9a-f]{64}$/.test(tip.digest) && timestamp.length === 24;
    this.#kernel.trust_tip(this.#hasTip ? 1 : 0);
    if (tip === null || !this.#hasTip) return;
    const at = this.#kernel.tip.value;
    this.#memory.setFloat64(at, tip.sequence, true);
    this.#bytes(at + 8, 64 + 24).set(Buffer.from(tip.digest + timestamp, 'latin1'));
  }

  /** As `setTip` with what stands before a stream's first entry. */
  setGenesis(firstSequence: number): void {
    this.setTip({ sequence: firstSequence - 1, digest: '0'.repeat(64), time: NO_TIME });
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
    const text = Buffer.from(this.#bytes(at + 8, 64 + 24)).toString('latin1');
    return {
      sequence: this.#memory.getFloat64(at, true),
      digest: text.slice(0, 64),
      time: this.#hasTimestamps ? Date.parse(text.slice(64)) : Number.NaN,
    };
  }

  /**
   * Reads the bytes of `input` from `start` to `end`; a few behind `end` are overwritten.
   * @param place what stands before them: of the first block `first`, later what the last run or the slow path left.
   */
  run(start: number, end: number, place: Place): KernelRun {
    if (this.#closed) throw new TypeError('the kernel is closed');
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

  /** Of the regular entries of the last run, 32 bytes each, valid until the next. */
  get digests(): Uint8Array {
    return this.#bytes(this.#kernel.digests.value, this.#regular * DIGEST_BYTES);
  }

  /** The timestamp of a regular entry of the last run; null where entries have none. */
  timestampOf(index: number): string | null {
    const { timestamp } = this.record(index);
    if (timestamp === null) return null;
    return Buffer.from(this.input.buffer, this.input.byteOffset + timestamp, 24).toString('latin1');
  }

  /** One of the regular entries of the last run, from 0. */
  record(index: number): KernelRecord {
    if (index < 0 || index >= this.#regular) throw new RangeError('no such record');
    const at = this.#kernel.records.value + index * RECORD_BYTES;
    const read = (offset: number) => this.#memory.getUint32(at + offset, true);
    const timestamp = read(20);
    return {
      sequence: this.#memory.getFloat64(at, true),
      digest: this.#bytes(this.#kernel.digests.value + index * DIGEST_BYTES, DIGEST_BYTES),
      start: read(8),
      end: read(12),
      timestamp: timestamp === NONE ? null : timestamp,
    };
  }

  /** Forgets the keys; the kernel must not be used afterwards: its memory serves another one. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hasTip = false;
    this.#regular = 0;
    giveBack(this.#kernel);
  }

  #nameMembers({ roles, omitted }: KernelOptions): void {
    const { seal, ...others } = roles;
    const named = new Map<string, number>();
    for (const [role, name] of Object.entries({ ...others, seal: seal?.value, sealKeyId: seal?.keyId }))
      if (typeof name === 'string') {
        if (named.has(name)) throw new EvidenceError('config', `the member "${name}" cannot play two roles`);
        named.set(name, ROLE[role as keyof typeof ROLE]);
      }
    for (const name of new Set([...named.keys(), ...omitted])) {
      if (!/^[ !#-[\]-~]*$/.test(name)) throw new EvidenceError('config', `the member name ${name} is not plain ASCII`);
      const length = this.#put(name);
      const fits =
        length !== null && this.#kernel.name(length, named.get(name) ?? NO_ROLE, omitted.includes(name) ? 1 : 0);
      if (!fits) throw new EvidenceError('config', `the member name ${name} is too long, or there are too many`);
    }
  }

  #expectStream(streamId: string): void {
    const length = streamId.isWellFormed() ? this.#put(JSON.stringify(streamId)) : null;
    if (length === null || this.#kernel.expect_stream(length) === 0)
      throw new EvidenceError('config', 'the stream id is too long, or not well-formed');
  }

  /** A key that does not fit is one that the kernel does not know: entries that are sealed with it are not regular. */
  #addKey(id: string, key: Uint8Array): void {
    if (!id.isWellFormed()) return;
    // RFC 2104 section 2: a key that is longer than a block stands for its digest.
    const secret = key.length > HMAC_BLOCK ? Buffer.from(sha256(key), 'hex') : key;
    const text = Buffer.from(JSON.stringify(id));
    if (text.length + secret.length > EXCHANGE_BYTES) return;
    const exchange = this.#bytes(this.#kernel.exchange.value, EXCHANGE_BYTES);
    exchange.set(text);
    exchange.set(secret, text.length);
    this.#kernel.add_key(text.length, secret.length);
    if (secret !== key) secret.fill(0);
  }

  #put(text: string): number | null {
    const bytes = Buffer.from(text);
    if (bytes.length > EXCHANGE_BYTES) return null;
    this.#bytes(this.#kernel.exchange.value, EXCHANGE_BYTES).set(bytes);
    return bytes.length;
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#kernel.memory.buffer, at, length);
  }
}
