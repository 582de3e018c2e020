import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { slugOf } from '../bundle/layout.ts';
import { NotedEntries } from './noted-entries.ts';

/** The entries that supplements name, of each stream, noted while the stream is read. */
export class NotedStreams implements Disposable {
  readonly #folder: string;
  readonly #wanted: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #notes = new Map<string, NotedEntries>();

  /** @param folder of these notes alone. @param wanted numbers of entries, by stream id. */
  constructor(folder: string, wanted: ReadonlyMap<string, ReadonlySet<number>>) {
    this.#folder = folder;
    this.#wanted = wanted;
    mkdirSync(folder, { recursive: true });
  }

  [Symbol.dispose](): void {
    for (const notes of this.#notes.values()) notes[Symbol.dispose]();
  }

  /** Those of a stream that is about to be read from its beginning; null where nothing of it is named. */
  begin(streamId: string): NotedEntries | null {
    const wanted = this.#wanted.get(streamId);
    if (wanted === undefined) return null;
    const notes = this.#notes.get(streamId) ?? new NotedEntries(wanted, join(this.#folder, slugOf(streamId)));
    this.#notes.set(streamId, notes);
    notes.restart();
    return notes;
  }

  /** What was noted of a stream is not what is archived of it. */
  forget(streamId: string): void {
    this.#notes.get(streamId)?.[Symbol.dispose]();
    this.#notes.delete(streamId);
  }

  /** Null for a stream that was not read. */
  of(streamId: string): NotedEntries | null {
    return this.#notes.get(streamId) ?? null;
  }

  /** Streams of which something is named. */
  get streamIds(): Iterable<string> {
    return this.#wanted.keys();
  }
}
