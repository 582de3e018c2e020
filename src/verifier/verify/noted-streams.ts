import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { slugOf } from '../bundle/layout.ts';
import type { ImpliedRecords } from '../supplements/implied.ts';
import { NotedEntries } from './noted-entries.ts';

/** The entries that bear on records, of each stream, noted while the stream is read. */
export class NotedStreams implements Disposable {
  readonly #folder: string;
  readonly #wanted: ReadonlyMap<string, ReadonlySet<number>>;
  readonly #implied: ImpliedRecords;
  readonly #notes = new Map<string, NotedEntries>();

  /** @param folder of these notes alone. @param wanted numbers of entries that records name, by stream id. */
  constructor(folder: string, wanted: ReadonlyMap<string, ReadonlySet<number>>, implied: ImpliedRecords) {
    this.#implied = implied;
    this.#folder = folder;
    this.#wanted = wanted;
    mkdirSync(folder, { recursive: true });
  }

  [Symbol.dispose](): void {
    for (const notes of this.#notes.values()) notes[Symbol.dispose]();
  }

  /** Reports whether entries of a stream bear on records. */
  wants(streamId: string): boolean {
    return this.#wanted.has(streamId) || this.#implied.concerns(streamId);
  }

  /** Those of a stream that is about to be read from its beginning; null where none bears on records. */
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

  /** Forgets what was noted of a stream: it is not what is archived of it. */
  forget(streamId: string): void {
    this.#notes.get(streamId)?.[Symbol.dispose]();
    this.#notes.delete(streamId);
  }

  /** Null for a stream that was not read. */
  of(streamId: string): NotedEntries | null {
    return this.#notes.get(streamId) ?? null;
  }
}
