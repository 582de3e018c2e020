import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs';
import { LINES_IN_A_PART } from './report/root.ts';

const BUFFERED_CHARACTERS = 64 * 1024;
const LINE_FEED = 0x0a;
const COMMA = 0x2c;

/** Writes the lines of a scan to a file, each as canonical JSON. */
export class LinesWriter implements Disposable {
  readonly #fd: number;
  #waiting: string[] = [];
  #characters = 0;

  /** @param file that does not exist yet. */
  constructor(file: string) {
    this.#fd = openSync(file, 'wx', 0o600);
  }

  write(text: string): void {
    this.#waiting.push(text, '\n');
    this.#characters += text.length;
    if (this.#characters > BUFFERED_CHARACTERS) this.#flush();
  }

  /** Makes the lines durable. */
  finish(): void {
    this.#flush();
    fsyncSync(this.#fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting.join(''));
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
    this.#waiting = [];
    this.#characters = 0;
  }
}

/**
 * Reads the parts of a report from a given part on: its lines as the members of a JSON array. Lines stay bytes, and
 * only one part is in memory.
 * @param file that `LinesWriter` wrote.
 * @param from number of a part; the first is 1. A file without lines has one empty part.
 */
export async function* readLineParts(file: string, from: number): AsyncGenerator<{ part: number; lines: Buffer[] }> {
  let part = 1;
  let pieces: Buffer[] = [];
  let count = 0;
  for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
    let begin = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, end + 1)) {
      // JSON text on one line contains no line feed.
      bytes[end] = COMMA;
      if (++count < LINES_IN_A_PART) continue;
      if (part >= from) yield { part, lines: [...pieces, bytes.subarray(begin, end)] };
      [part, pieces, count, begin] = [part + 1, [], 0, end + 1];
    }
    if (begin < bytes.length) pieces.push(bytes.subarray(begin));
  }
  const last = pieces.pop() ?? Buffer.alloc(0);
  if ((count > 0 || part === 1) && part >= from) yield { part, lines: [...pieces, last.subarray(0, -1)] };
}
