import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sha256 } from '../../../core/digest.ts';
import { type EndpointLine, pathBytes } from '../../../sensor/report/line.ts';

/** A chunk ends after a line whose CRC-32 ends so: after 256 lines on average, and at the same line in every set. */
const END_MASK = 0xff;
/** Whoever chooses lines that never end one gets chunks of this size. */
const MOST_LINES = 2048;
const MOST_CHARACTERS = 2 ** 20;

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
  #characters = 0;

  /** @param text RFC 8785 of a line. @returns a chunk where one ends with it. */
  add(text: string): LineChunk | null {
    this.#texts.push(text);
    this.#characters += text.length;
    const isFull = this.#texts.length >= MOST_LINES || this.#characters >= MOST_CHARACTERS;
    return isFull || (crc32(text) & END_MASK) === 0 ? this.end() : null;
  }

  /** The chunk of the lines since the last one. */
  end(): LineChunk | null {
    const texts = this.#texts;
    const [first, last] = [texts[0], texts.at(-1)];
    if (first === undefined || last === undefined) return null;
    this.#texts = [];
    this.#characters = 0;
    const paths = { first_path: pathOfText(first), last_path: pathOfText(last) };
    const bytes = linesToBytes(texts);
    return { sha256: sha256(bytes), ...paths, lines: packLines(bytes) };
  }
}

/** The bytes of the path that a line is of. */
export function pathOfText(text: string): Buffer {
  return pathBytes(JSON.parse(text) as EndpointLine);
}

/** The texts of lines, each with a line feed after it: RFC 8785 writes one within a text as an escape. */
export function linesToBytes(texts: readonly string[]): Buffer {
  return Buffer.from(texts.length === 0 ? '' : `${texts.join('\n')}\n`);
}

/** Knowing the size, zstd prepares less: that takes a fifth of the time for a chunk. */
export function packLines(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, { pledgedSrcSize: bytes.length });
}

/** The texts again. */
export function toTexts(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

/** The texts of the lines of a chunk. */
export function textsOf({ lines }: Pick<LineChunk, 'lines'>): string[] {
  return toTexts(zstdDecompressSync(lines));
}
