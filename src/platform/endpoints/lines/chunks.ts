import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sha256 } from '../../../core/digest.ts';
import { type EndpointLine, pathBytes } from '../report/line.ts';

/** A chunk ends behind a path whose CRC-32 ends so: after 256 lines on average, and at the same path in every set. */
const END_MASK = 0xff;
/** Whoever chooses paths that never end one gets chunks of this size. */
const MOST_LINES = 2048;
const MOST_BYTES = 2 ** 20;

/** Some lines of a set, as they are stored. */
export interface LineChunk {
  /** Hex, over the texts of its lines. */
  sha256: string;
  first_path: Uint8Array;
  last_path: Uint8Array;
  lines: Uint8Array;
}

/**
 * Cuts the lines of a set into chunks at places that the lines themselves give: sets that differ in a few lines have all
 * but a few chunks in common.
 */
export class Chunking {
  #texts: string[] = [];
  #bytes = 0;
  #first: Buffer | null = null;

  /** @param text RFC 8785 of the line. @returns a chunk where one ends with it. */
  add(line: EndpointLine, text: string): LineChunk | null {
    const path = pathBytes(line);
    this.#first ??= path;
    this.#texts.push(text);
    this.#bytes += text.length;
    const isEnd = (crc32(path) & END_MASK) === 0 || this.#texts.length >= MOST_LINES || this.#bytes >= MOST_BYTES;
    return isEnd ? this.#cut(path) : null;
  }

  /** The chunk of the last lines. */
  end(last: EndpointLine | null): LineChunk | null {
    return this.#texts.length === 0 || last === null ? null : this.#cut(pathBytes(last));
  }

  #cut(last: Buffer): LineChunk {
    const texts = this.#texts;
    const chunk = {
      sha256: sha256(joined(texts)),
      first_path: this.#first ?? last,
      last_path: last,
      lines: packLines(texts),
    };
    this.#texts = [];
    this.#bytes = 0;
    this.#first = null;
    return chunk;
  }
}

/** The texts of lines, compressed. */
export function packLines(texts: readonly string[]): Uint8Array {
  return zstdCompressSync(joined(texts));
}

/** The texts again. */
export function unpackLines(packed: Uint8Array): string[] {
  const text = zstdDecompressSync(packed).toString('utf8');
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

/** RFC 8785 writes a line feed within a text as an escape. */
function joined(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
