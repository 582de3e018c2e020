import { closeSync, openSync, writeFileSync } from 'node:fs';
import { toWrites } from '../../core/chunks.ts';
import type { PayloadSource } from '../bundle/source.ts';

/** So much is written at once. */
const BLOCK = 256 * 1024;

/** A file of a bag that is made line by line, because all of it would be too much to hold. */
export class LineFile implements Disposable {
  readonly source: PayloadSource;
  readonly #file: number;
  #waiting: string[] = [];
  #length = 0;

  /** @param file which is made. @param path in the bag. */
  constructor(file: string, path: string) {
    this.source = { path, file };
    this.#file = openSync(file, 'w', 0o600);
  }

  /** @param line with its end. */
  write(line: string): void {
    this.#waiting.push(line);
    this.#length += line.length;
    if (this.#length >= BLOCK) this.#flush();
  }

  /** The file is whole then. */
  [Symbol.dispose](): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    for (const piece of toWrites(Buffer.from(this.#waiting.join('')))) writeFileSync(this.#file, piece);
    this.#waiting = [];
    this.#length = 0;
  }
}
