import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs';
import { LINES_IN_A_PART } from '../endpoints/report/root.ts';

const BUFFERED_CHARACTERS = 256 * 1024;

/** Writes the lines of a scan into a file: the canonical JSON of one on each line. */
export class LinesWriter implements Disposable {
  readonly #fd: number;
  #waiting: string[] = [];
  #characters = 0;

  /** @param file that is not there yet. */
  constructor(file: string) {
    this.#fd = openSync(file, 'wx', 0o600);
  }

  write(text: string): void {
    this.#waiting.push(text, '\n');
    this.#characters += text.length;
    if (this.#characters > BUFFERED_CHARACTERS) this.#flush();
  }

  /** Whatever crashes from now on, the lines are there. */
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
 * The parts of a report, from one on: the texts of its lines. One part is in memory at a time.
 * @param file as `LinesWriter` wrote it.
 * @param from the first is 1. Of a file without lines, part 1 has none.
 */
export async function* readLineParts(file: string, from: number): AsyncGenerator<{ part: number; lines: string[] }> {
  let part = 1;
  let lines: string[] = [];
  for await (const line of readLines(file)) {
    if (lines.length === LINES_IN_A_PART) {
      if (part >= from) yield { part, lines };
      part++;
      lines = [];
    }
    lines.push(line);
  }
  if (part >= from) yield { part, lines };
}

/** Not `node:readline`, which ends a line at U+2028, too: names have it, and JSON does not escape it. */
async function* readLines(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const text of createReadStream(file, { encoding: 'utf8' })) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
