import { closeSync, openSync, writeSync } from 'node:fs';
import { StreamingSha256 } from '../../core/digest.ts';
import type { ListingObserver } from '../../verifier/claims/listing.ts';
import { lineOf, linesOf } from '../../verifier/claims/listing-text.ts';

const BLOCK_CHARACTERS = 256 * 1024;

/** The listing of a stream as it is kept in its bundle, written while it arrives. */
export class ListingFile implements Disposable {
  readonly path: string;
  readonly #digest = new StreamingSha256();
  #file: number | null;
  #text = '';

  /** Overwrites what is there. */
  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'w');
  }

  readonly observer: ListingObserver = {
    matched: (entries, from, to) => this.#add(linesOf(entries, from, to)),
    listed: (entry, isBehind) => this.#add(lineOf(entry, isBehind)),
  };

  /** Ends the file; call once. */
  finish(): { file: string; bytes: number; sha256: string } {
    this.#write();
    this[Symbol.dispose]();
    return { file: this.path, ...this.#digest.finish() };
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length >= BLOCK_CHARACTERS) this.#write();
  }

  #write(): void {
    const bytes = Buffer.from(this.#text, 'latin1');
    this.#text = '';
    this.#digest.update(bytes);
    for (let at = 0; at < bytes.length && this.#file !== null; ) at += writeSync(this.#file, bytes, at);
  }
}
