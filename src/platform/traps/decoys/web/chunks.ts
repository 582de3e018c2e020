/** The end of the bytes, or what is wrong with them; null while they go on. */
export type ChunkReading = { used: number; isOver: boolean } | 'refused';

const LONGEST_LINE = 4096;

/** A body in chunks (RFC 9112 section 7.1), of which the beginning is kept. */
export class ChunkedBody {
  #state: 'size' | 'data' | 'after' | 'trailer' = 'size';
  #left = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Takes what is whole. @param keep is given the bytes of the body. */
  read(bytes: Buffer, keep: (part: Buffer) => void): ChunkReading {
    let used = 0;
    for (;;) {
      const rest = bytes.subarray(used);
      if (this.#state === 'data') {
        const part = rest.subarray(0, this.#left);
        keep(part);
        used += part.length;
        this.#left -= part.length;
        this.#total += part.length;
        if (this.#left > 0) return { used, isOver: false };
        this.#state = 'after';
        continue;
      }
      const end = rest.indexOf(0x0a);
      if (end < 0) return rest.length > LONGEST_LINE ? 'refused' : { used, isOver: false };
      const line = rest.subarray(0, end).toString('latin1').replace(/\r$/, '');
      used += end + 1;
      if (this.#state === 'trailer' && line === '') return { used, isOver: true };
      if (this.#state !== 'trailer' && !this.#take(line)) return 'refused';
    }
  }

  /** A line that is no trailer: it is empty after data, and has the size of what follows else. */
  #take(line: string): boolean {
    if (this.#state === 'after') {
      this.#state = 'size';
      return line === '';
    }
    const [, size] = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/.exec(line) ?? [];
    if (size === undefined) return false;
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'data';
    return true;
  }
}
