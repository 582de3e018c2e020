import { closeSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { slugOf } from '../bundle/layout.ts';
import type { PackageExpectation } from '../chain/package.ts';
import type { SentEntries } from '../model/batch.ts';
import type { RecordKind } from '../supplements/files.ts';
import type { Implied, ImpliedRecords } from '../supplements/implied.ts';
import type { FoundEntry, StreamNotes } from '../supplements/standing.ts';
import type { EntryWatch } from './reading.ts';

type SeenEntry = Parameters<NonNullable<PackageExpectation['onEntry']>>[0];

/** Bytes before a note: the lengths of its digest and of its JSON. */
const HEAD_BYTES = 8;
/** Length that marks an entry which can be read in more than one way. */
const NO_JSON = 0xffffffff;

/** Entries of one stream that bear on records, kept in a file, so that their number is unbounded. */
export class NotedEntries implements EntryWatch, StreamNotes, Disposable {
  readonly #wanted: ReadonlySet<number>;
  readonly #file: number;
  /** Offset of each entry's note by its number; of two entries with one number, the first one's. */
  readonly #offsets = new Map<number, number>();
  readonly #impliedBy: (bytes: Uint8Array) => readonly Implied[];
  readonly #implied = new Map<RecordKind, Map<string, number>>();
  readonly #later = new Map<string, number[]>();
  #end = 0;

  /**
   * Opens the file of notes.
   * @param wanted numbers of entries that records name.
   * @param impliedBy returns the records that an entry is about.
   * @param path of a file to create, which the caller removes.
   */
  constructor(wanted: ReadonlySet<number>, impliedBy: (bytes: Uint8Array) => readonly Implied[], path: string) {
    this.#wanted = wanted;
    this.#impliedBy = impliedBy;
    this.#file = openSync(path, 'w+', 0o600);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  /** Forgets all notes, because the stream is read from its beginning again. */
  restart(): void {
    this.#offsets.clear();
    this.#implied.clear();
    this.#later.clear();
    this.#end = 0;
    ftruncateSync(this.#file);
  }

  onEntry({ sequence, digest }: SeenEntry): void {
    if (this.#wants(sequence)) this.#note(sequence, digest, null);
  }

  onSent(entries: SentEntries): void {
    for (let at = 0; at < entries.count; at++) {
      const sequence = entries.sequence(at);
      if (this.#offsets.has(sequence)) continue;
      const bytes = entries.bytes.subarray(entries.start(at), entries.end(at));
      const implied = this.#impliedBy(bytes);
      for (const one of implied) this.#keep(one, sequence);
      if (implied.length > 0 || this.#wants(sequence)) this.#note(sequence, entries.digest(at), bytes);
    }
  }

  async catchUp(): Promise<void> {}

  implied(kind: RecordKind): ReadonlyMap<string, number> {
    return this.#implied.get(kind) ?? new Map();
  }

  later(kind: RecordKind, id: string): readonly number[] {
    return this.#later.get(`${kind} ${id}`) ?? [];
  }

  /** Returns null if no such entry was seen. */
  find(sequence: number): FoundEntry | null {
    const offset = this.#offsets.get(sequence);
    if (offset === undefined) return null;
    const head = this.#read(offset, HEAD_BYTES);
    const digest = this.#read(offset + HEAD_BYTES, head.readUInt32LE(0));
    const length = head.readUInt32LE(4);
    const bytes = length === NO_JSON ? null : this.#read(offset + HEAD_BYTES + digest.length, length);
    return { digest: digest.toString(), bytes };
  }

  #keep({ kind, id, isFirst }: Implied, sequence: number): void {
    if (!isFirst) {
      const numbers = this.#later.get(`${kind} ${id}`);
      if (numbers === undefined) this.#later.set(`${kind} ${id}`, [sequence]);
      else numbers.push(sequence);
      return;
    }
    const ids = this.#implied.get(kind) ?? new Map<string, number>();
    this.#implied.set(kind, ids);
    if (!ids.has(id)) ids.set(id, sequence);
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

/** Entries that bear on records, noted per stream while it is read. */
export class NotedStreams implements Disposable {
  readonly #folder: string;
  readonly #wanted: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #implied: ImpliedRecords;
  readonly #notes = new Map<string, NotedEntries>();

  /** @param folder for these notes alone. @param wanted numbers of entries that records name, by stream id. */
  constructor(folder: string, wanted: ReadonlyMap<string, ReadonlySet<number>>, implied: ImpliedRecords) {
    this.#implied = implied;
    this.#folder = folder;
    this.#wanted = wanted;
    mkdirSync(folder, { recursive: true });
  }

  [Symbol.dispose](): void {
    for (const notes of this.#notes.values()) notes[Symbol.dispose]();
  }

  /** Reports whether entries of a stream may bear on records. */
  wants(streamId: string): boolean {
    return this.#wanted.has(streamId) || this.#implied.concerns(streamId);
  }

  /** Returns empty notes for a stream that is about to be read; null if none of its entries bears on records. */
  begin(streamId: string): NotedEntries | null {
    if (!this.wants(streamId)) return null;
    const wanted = this.#wanted.get(streamId) ?? new Set();
    const impliedBy = (bytes: Uint8Array) => this.#implied.of(streamId, bytes);
    const path = join(this.#folder, slugOf(streamId));
    const notes = this.#notes.get(streamId) ?? new NotedEntries(wanted, impliedBy, path);
    this.#notes.set(streamId, notes);
    notes.restart();
    return notes;
  }

  /** Forgets the notes of a stream, because the bytes read are not those archived. */
  forget(streamId: string): void {
    this.#notes.get(streamId)?.[Symbol.dispose]();
    this.#notes.delete(streamId);
  }

  /** Returns null for a stream that was not read. */
  of(streamId: string): NotedEntries | null {
    return this.#notes.get(streamId) ?? null;
  }
}
