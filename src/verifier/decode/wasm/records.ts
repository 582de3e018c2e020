import { hexText, utf8Text } from '../../../core/bytes.ts';
import type { SpareMemory } from '../../../core/spare-memory.ts';
import type { ChainKind } from './kind.ts';

/** Layout of `kernel.c`. */
export const RECORD_BYTES = 40;
const NONE = 0xffffffff;

/** What of a kind of chain tells how a time is read. */
type TimedKind = Pick<ChainKind, 'roles' | 'timestampUnit'>;

/** What a kernel has written down of the entries that it found regular. */
interface Written {
  /** `RECORD_BYTES` each. */
  records: Uint8Array;
  /** `digestBytes` each. */
  digests: Uint8Array;
  digestBytes: number;
  /** Where the entries stand. */
  bytes: Uint8Array;
}

/** Entries that a kernel found regular, each by its index from 0, read when it is asked for. */
// Over ten members: they are the columns of the batch that the module writes.
export class KernelRecords {
  #count: number;
  readonly #kind: TimedKind;
  readonly #written: Written;
  readonly #records: DataView;
  /** What stands before `bytes` where the kernel read. */
  readonly #skipped: number;
  #release = () => {};

  constructor(kind: TimedKind, written: Written, skipped = 0) {
    const { records } = written;
    this.#count = records.length / RECORD_BYTES;
    this.#kind = kind;
    this.#written = written;
    this.#records = new DataView(records.buffer, records.byteOffset, records.length);
    this.#skipped = skipped;
  }

  get count(): number {
    return this.#count;
  }

  /** `digestBytes` each. */
  get digests(): Uint8Array {
    return this.#written.digests;
  }

  get digestBytes(): number {
    return this.#written.digestBytes;
  }

  /** Where the entries stand, with what stands between them. */
  get bytes(): Uint8Array {
    return this.#written.bytes;
  }

  /** A copy, with only the bytes from the first of the first entry to the last of the last, until it is released. */
  copy(spare: SpareMemory): KernelRecords {
    const { records, digests, digestBytes, bytes } = this.#written;
    const begin = this.start(0);
    const sent = bytes.subarray(begin, this.end(this.count - 1));
    const memory = spare.take(records.length + digests.length + sent.length);
    let at = 0;
    const keep = (part: Uint8Array) => {
      memory.set(part, at);
      at += part.length;
      return memory.subarray(at - part.length, at);
    };
    const written: Written = { records: keep(records), digests: keep(digests), digestBytes, bytes: keep(sent) };
    const copy = new KernelRecords(this.#kind, written, this.#skipped + begin);
    copy.#release = () => spare.giveBack(memory);
    return copy;
  }

  /** Of a copy: gives its memory back. There is nothing in it any more. */
  release(): void {
    this.#release();
    this.#release = () => {};
    this.#count = 0;
  }

  sequence(index: number): number {
    return this.#records.getFloat64(this.#at(index), true);
  }

  /** Milliseconds since 1970; not a number where entries have none. */
  time(index: number): number {
    return this.#kind.roles.timestamp === null ? Number.NaN : this.#records.getFloat64(this.#at(index) + 8, true);
  }

  /** Where it begins in `bytes`. */
  start(index: number): number {
    return this.#place(index, 16);
  }

  /** Behind its last byte. */
  end(index: number): number {
    return this.#place(index, 20);
  }

  /** RFC 3339; empty where entries have none. What `profile/time.ts` makes of the times that the kernel takes. */
  timestamp(index: number): string {
    const at = this.#at(index);
    if (this.#records.getUint32(at + 28, true) === NONE) return '';
    const start = this.#place(index, 28);
    const sent = utf8Text(this.bytes.subarray(start, start + this.#records.getUint32(at + 32, true)));
    const { timestampUnit } = this.#kind;
    if (timestampUnit === 'text') return sent.endsWith('Z"') ? sent.slice(1, -1) : `${sent.slice(1, -1)}Z`;
    return new Date(Number(sent) * (timestampUnit === 'seconds' ? 1000 : 1)).toISOString();
  }

  /** Lower-case hex. */
  digest(index: number): string {
    this.#at(index);
    return hexText(this.digests.subarray(index * this.digestBytes, (index + 1) * this.digestBytes));
  }

  #place(index: number, field: number): number {
    return this.#records.getUint32(this.#at(index) + field, true) - this.#skipped;
  }

  #at(index: number): number {
    if (index < 0 || index >= this.count) throw new RangeError('no such record');
    return index * RECORD_BYTES;
  }
}
