import { joinBytes } from '../../core/bytes.ts';

/** The bytes of a zip, wherever they lie: a file on a disk, or one that was dropped on a page. */
export interface Container {
  /** For people. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The bytes `start` to `start + length`; fewer only where it is shorter. Any numbers may be asked for. */
  read(start: number, length: number): Promise<Uint8Array>;
  /** The same, in blocks. */
  blocks(start: number, length: number): AsyncIterable<Uint8Array>;
  /**
   * Inflates `length` bytes from `start` (RFC 1951), in blocks.
   * @param expected how many bytes that may be; nothing is held to it.
   * @throws LeftOver when the compressed data ends before the bytes do; another Error when it cannot be inflated.
   */
  inflated(start: number, length: number, expected: number): AsyncIterable<Uint8Array>;
}

/** Bytes after the end of compressed data that belong to nothing. */
export class LeftOver extends Error {}

/** Exactly `length` bytes from `start`, or null where there are fewer. */
export async function readExactly(container: Container, start: number, length: number): Promise<Uint8Array | null> {
  if (start < 0 || !Number.isSafeInteger(start + length)) return null;
  const bytes = await container.read(start, length);
  return bytes.length === length ? bytes : null;
}

export async function collect(blocks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const list: Uint8Array[] = [];
  for await (const block of blocks) list.push(block);
  return joinBytes(list);
}
