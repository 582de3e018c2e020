import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, messageOf } from '../../core/errors.ts';

/** Records of streams in a file: thousands of them are too much to hold while the streams are exported. */
export class RecordTexts implements Disposable {
  readonly #path: string;
  readonly #file: number;
  #end = 0;

  /** @param folder of this process alone. */
  constructor(folder: string) {
    this.#path = join(folder, 'stream-records');
    this.#file = openSync(this.#path, 'w+', 0o600);
  }

  /** @returns reads the text back. */
  readonly keep = (text: string): (() => string) => {
    const bytes = Buffer.from(text);
    const start = this.#end;
    try {
      writeFileSync(this.#file, bytes);
    } catch (error) {
      throw new EvidenceError('archive', `cannot write ${this.#path}: ${messageOf(error)}`, {
        nextStep: 'Free space there, then run the same command again.',
        cause: error,
      });
    }
    this.#end += bytes.length;
    return () => this.#read(start, bytes.length);
  };

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #read(start: number, length: number): string {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) at += readSync(this.#file, bytes, at, length - at, start + at);
    return bytes.toString();
  }
}
