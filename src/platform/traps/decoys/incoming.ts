import { once } from 'node:events';
import type { Duplex } from 'node:stream';

/** Bytes from a client, read piece by piece. Unread bytes stay outside this process until they are requested. */
export class Incoming {
  readonly #stream: Duplex;
  #held: Buffer = Buffer.alloc(0);
  #wake: (() => void) | undefined;
  readonly #onMore = () => this.#wake?.();

  constructor(stream: Duplex) {
    this.#stream = stream;
    for (const event of ['readable', 'end', 'close', 'error']) stream.on(event, this.#onMore);
  }

  /** Returns the next bytes; null if the client disconnects before it has sent them all. */
  async take(count: number): Promise<Buffer | null> {
    while (this.#held.length < count) if (!(await this.#readMore())) return null;
    return this.#cut(count);
  }

  /** Skips bytes. @returns true if all of them arrived. */
  async skip(count: number): Promise<boolean> {
    for (let left = count; left > 0; ) {
      if (this.#held.length === 0 && !(await this.#readMore())) return false;
      left -= this.#cut(Math.min(left, this.#held.length)).length;
    }
    return true;
  }

  /** Returns a line with its end, or `most` bytes without one; null if the client disconnects before. */
  async line(most: number): Promise<Buffer | null> {
    for (;;) {
      const end = this.#held.subarray(0, most).indexOf(0x0a);
      if (end !== -1) return this.#cut(end + 1);
      if (this.#held.length >= most) return this.#cut(most);
      if (!(await this.#readMore())) return null;
    }
  }

  /** Stops reading the stream, so that another reader can take over. Bytes already held are lost. */
  release(): void {
    for (const event of ['readable', 'end', 'close', 'error']) this.#stream.off(event, this.#onMore);
  }

  #cut(count: number): Buffer {
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async #readMore(): Promise<boolean> {
    for (;;) {
      const piece: Buffer | null = this.#stream.read();
      if (piece !== null) {
        this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
        return true;
      }
      if (this.#stream.readableEnded || this.#stream.destroyed) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

/**
 * Sends bytes, and waits for a client that does not read, so that output does not pile up in memory. @returns true if
 * the client is still connected.
 */
export async function sendTo(stream: Duplex, bytes: Uint8Array | string): Promise<boolean> {
  if (stream.destroyed || stream.writableEnded) return false;
  if (!stream.write(bytes)) {
    const gone = new AbortController();
    const close = () => gone.abort();
    stream.once('close', close);
    await once(stream, 'drain', { signal: gone.signal }).catch(() => {});
    stream.off('close', close);
  }
  return !stream.destroyed;
}
