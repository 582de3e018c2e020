import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Records of streams in a file: thousands of them are too much to hold while the streams are exported. */
export class RecordTexts implements Disposable {
  readonly #file: number;
  #end = 0;

  /** @param folder of this process alone. */
  constructor(folder: string) {
    this.#file = openSync(join(folder, 'stream-records'), 'w+', 0o600);
  }

  /** @returns reads the text back. */
  readonly keep = (text: string): (() => string) => {
    const bytes = Buffer.from(text);
    const start = this.#end;
    writeFileSync(this.#file, bytes);
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
