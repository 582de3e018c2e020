import { EvidenceError } from '../../core/errors.ts';
import { canonicalLine, type EndpointLine, pathBytes } from './line.ts';
import { MerkleTree } from './merkle.ts';

/** Maximum number of lines in one part of a report. */
export const LINES_IN_A_PART = 2000;

/** Returns the number of parts for the lines of a scan; 1 without lines. */
export function partsOf(lineCount: number): number {
  return Math.max(1, Math.ceil(lineCount / LINES_IN_A_PART));
}

/** Root hash over the lines of a scan, which must be added in the order of their paths' bytes. */
export class LineRoot {
  readonly #tree = new MerkleTree();
  #last: Buffer | null = null;

  get count(): number {
    return this.#tree.size;
  }

  /**
   * Adds a line.
   * @returns the text of the line that is hashed.
   * @throws EvidenceError `unreadable` if the line does not sort after the previous one.
   */
  add(line: EndpointLine): string {
    const bytes = pathBytes(line);
    if (this.#last !== null && this.#last.compare(bytes) >= 0)
      throw new EvidenceError(
        'unreadable',
        `line ${this.count + 1} is out of order: its path must follow the one before it in byte order`,
      );
    this.#last = bytes;
    const text = canonicalLine(line);
    this.#tree.add(text);
    return text;
  }

  /** Returns the root hash in lowercase hex. */
  root(): string {
    return this.#tree.root();
  }
}
