import type { FileHandle } from 'node:fs/promises';

/** Chunks of a socket are small; each write costs a turn of another thread. */
const BLOCK_BYTES = 512 * 1024;

/** Writes to a file behind one's back: what is written next is taken while the disk still has the last. */
export class FileWriter {
  readonly #file: FileHandle;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #written: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Takes a chunk, which must not change any more. @throws what an earlier write failed with. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= BLOCK_BYTES) await this.#begin();
  }

  /** Returns once all of it is in the file. @throws what a write failed with. */
  async flush(): Promise<void> {
    await this.#begin();
    await this.#written;
  }

  /** Begins the next write once the last has ended. */
  async #begin(): Promise<void> {
    await this.#written;
    if (this.#bytes === 0) return;
    const [chunks, bytes] = [this.#waiting, this.#bytes];
    [this.#waiting, this.#bytes] = [[], 0];
    this.#written = this.#writeAll(chunks, bytes);
    // Heard where it is awaited: by the next write, or by `flush`.
    this.#written.catch(() => undefined);
  }

  async #writeAll(chunks: readonly Uint8Array[], bytes: number): Promise<void> {
    const { bytesWritten } = await this.#file.writev(chunks as Uint8Array[]);
    if (bytesWritten < bytes) await this.#file.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
  }
}
