import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Number of bytes read or written at a time. */
const BLOCK_BYTES = 64 * 1024;

/** Closes the descriptors of files whose `RowFile` was collected. */
const descriptors = new FinalizationRegistry<number>(closeSync);

/** Texts in a temporary file that only this object can reach and that is deleted with it. */
export class RowFile {
  readonly #file: number;
  /** Pending bytes until they are written; afterward, the bytes of one text being read. */
  readonly #buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  /** End offset of each text. */
  readonly #ends: number[] = [];
  /** Number of pending bytes in the buffer. */
  #waiting = 0;
  #end = 0;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'evidence-rows-'));
    try {
      this.#file = openSync(join(folder, 'rows'), 'wx+', 0o600);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    descriptors.register(this, this.#file);
  }

  get length(): number {
    return this.#ends.length;
  }

  append(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#waiting + bytes > BLOCK_BYTES) this.#flush();
    if (bytes > BLOCK_BYTES) this.#write(Buffer.from(text));
    else this.#waiting += this.#buffer.write(text, this.#waiting);
    this.#end += bytes;
    this.#ends.push(this.#end);
  }

  read(place: number): string {
    this.#flush();
    const { start, end } = this.#rangeOf(place);
    const length = end - start;
    const bytes = length > BLOCK_BYTES ? Buffer.allocUnsafeSlow(length) : this.#buffer.subarray(0, length);
    this.#readInto(bytes, start);
    return bytes.toString();
  }

  /** Reads the texts from `start` to `end` (exclusive), in order. */
  *texts(start = 0, end = this.length): Generator<string> {
    this.#flush();
    let memory = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    let block = memory.subarray(0, 0);
    let from = 0;
    for (let place = start; place < end; place++) {
      const range = this.#rangeOf(place);
      if (range.end > from + block.length) {
        const length = range.end - range.start;
        if (length > memory.length) memory = Buffer.allocUnsafeSlow(length);
        block = memory.subarray(0, Math.min(memory.length, this.#end - range.start));
        this.#readInto(block, range.start);
        from = range.start;
      }
      yield block.toString('utf8', range.start - from, range.end - from);
    }
  }

  #rangeOf(place: number): { start: number; end: number } {
    return { start: this.#ends[place - 1] ?? 0, end: this.#ends[place] as number };
  }

  #readInto(bytes: Uint8Array, start: number): void {
    for (let at = 0; at < bytes.length; ) at += readSync(this.#file, bytes, at, bytes.length - at, start + at);
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#waiting));
    this.#waiting = 0;
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }
}
