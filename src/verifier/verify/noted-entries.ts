import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import type { PackageExpectation } from '../chain/package.ts';
import type { SentEntries } from '../model/sent.ts';
import type { FoundEntry } from '../supplements/standing.ts';
import type { EntryWatch } from './reading.ts';

type SeenEntry = Parameters<NonNullable<PackageExpectation['onEntry']>>[0];

/** Of a note: how long its digest is, and how long its JSON. */
const HEAD_BYTES = 8;
/** An entry that can be read in more than one way. */
const NO_JSON = 0xffffffff;

/** Those entries of one stream that somebody wants to see again, kept in a file, so that there may be any number. */
export class NotedEntries implements EntryWatch, Disposable {
  readonly #wanted: ReadonlySet<number>;
  readonly #file: number;
  /** Where the note of an entry begins, by its number. Of two entries of one number the first. */
  readonly #offsets = new Map<number, number>();
  #end = 0;

  /** @param wanted numbers of entries. @param path of a file that is made, and that is the caller's to remove. */
  constructor(wanted: ReadonlySet<number>, path: string) {
    this.#wanted = wanted;
    this.#file = openSync(path, 'w+', 0o600);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  /** The stream is read from its beginning, again. */
  restart(): void {
    this.#offsets.clear();
    this.#end = 0;
    ftruncateSync(this.#file);
  }

  onEntry({ sequence, digest }: SeenEntry): void {
    if (this.#wants(sequence)) this.#note(sequence, digest, null);
  }

  onSent(entries: SentEntries): void {
    for (let at = 0; at < entries.count; at++) {
      const sequence = entries.sequence(at);
      if (this.#wants(sequence))
        this.#note(sequence, entries.digest(at), entries.bytes.subarray(entries.start(at), entries.end(at)));
    }
  }

  async catchUp(): Promise<void> {}

  /** Null where no such entry was seen. */
  find(sequence: number): FoundEntry | null {
    const offset = this.#offsets.get(sequence);
    if (offset === undefined) return null;
    const head = this.#read(offset, HEAD_BYTES);
    const digest = this.#read(offset + HEAD_BYTES, head.readUInt32LE(0));
    const length = head.readUInt32LE(4);
    const bytes = length === NO_JSON ? null : this.#read(offset + HEAD_BYTES + digest.length, length);
    return { digest: digest.toString(), bytes };
  }

  #wants(sequence: number): boolean {
    return this.#wanted.has(sequence) && !this.#offsets.has(sequence);
  }

  #note(sequence: number, digest: string, bytes: Uint8Array | null): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(digest.length, 0);
    head.writeUInt32LE(bytes?.length ?? NO_JSON, 4);
    const note = Buffer.concat([head, Buffer.from(digest), ...(bytes === null ? [] : [bytes])]);
    for (let at = 0; at < note.length; ) at += writeSync(this.#file, note, at, note.length - at, this.#end + at);
    this.#offsets.set(sequence, this.#end);
    this.#end += note.length;
  }

  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
      const read = readSync(this.#file, bytes, at, length - at, offset + at);
      if (read === 0) throw new TypeError('the file of the notes was cut');
      at += read;
    }
    return bytes;
  }
}
