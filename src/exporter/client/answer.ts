import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Call } from './call.ts';
import type { DispatchedAnswer } from './dispatch.ts';

const MAX_DISCARDED_BYTES = 64 * 1024;

/** One answer, its body not read yet. */
// Over ten members: the head of an HTTP answer, and each way to take its body.
export class Answer {
  readonly call: Call;
  /** The address that it came from, after redirects. */
  readonly url: URL;
  readonly status: number;
  readonly requestedAt: string;
  readonly #data: DispatchedAnswer;

  constructor(call: Call, url: URL, requestedAt: string, data: DispatchedAnswer) {
    this.call = call;
    this.url = url;
    this.requestedAt = requestedAt;
    this.status = data.status;
    this.#data = data;
  }

  get contentType(): string {
    return this.header('content-type') ?? '';
  }

  /** True if the body is what it says it is, byte by byte, so that a part of it can be continued. */
  get isEncoded(): boolean {
    return !/^(identity)?$/i.test(this.header('content-encoding') ?? '');
  }

  /** A field of this name, in lower case; several of them as one list (RFC 9110 section 5.3). */
  header(name: string): string | null {
    const value = this.#data.headers[name];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  }

  /** The stated length in bytes of what is sent, encoded or not. */
  get contentLength(): number | null {
    const value = this.header('content-length');
    return value !== null && /^\d+$/.test(value) ? Number(value) : null;
  }

  /**
   * The content, piece by piece and decoded.
   * @param limit bytes; the answer is cut off when there are more.
   * @param before bytes that are here already and count too.
   * @throws EvidenceError `service` when there are more, or for a content coding that cannot be read; anything else
   * that is thrown is a fault of the connection.
   */
  async *content(limit: number, before = 0): AsyncGenerator<Uint8Array> {
    const { body } = this.#data;
    try {
      if (!this.isEncoded && before + (this.contentLength ?? 0) > limit) throw this.#tooLong(limit);
      // Many bytes may be decoded to none.
      body.limit(limit - before, () => this.#tooLong(limit));
      let bytes = before;
      for await (const chunk of this.#decoded() as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > limit) throw this.#tooLong(limit);
        yield chunk;
      }
      if (body.fault !== null) throw body.fault;
    } catch (error) {
      // A decoder only notices that something is missing.
      throw isEvidenceError(error) ? error : (body.fault ?? error);
    } finally {
      body.destroy();
    }
  }

  /** The beginning of the content, for a message: whatever of it can be read. */
  async beginning(limit: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.content(Number.POSITIVE_INFINITY)) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= limit) break;
      }
    } catch {
      // The status says enough.
    }
    return Buffer.concat(chunks).subarray(0, limit);
  }

  /** Reads a short body to its end, so that the connection can be used again, and ends a long one. */
  async discard(): Promise<void> {
    await this.beginning(MAX_DISCARDED_BYTES);
  }

  /** Ends the connection. */
  abandon(): void {
    this.#data.body.destroy();
  }

  #decoded(): Readable {
    const coding = this.header('content-encoding');
    const decoded = this.isEncoded ? decode(this.#data.body, coding ?? '') : this.#data.body;
    if (decoded !== null) return decoded;
    const { method, url } = this.call;
    const what = `${method} ${url} answered ${this.status} with Content-Encoding ${JSON.stringify(coding)}`;
    throw new EvidenceError('service', `${what}, which was not asked for and cannot be read`);
  }

  #tooLong(limit: number): EvidenceError {
    const { method, url } = this.call;
    return new EvidenceError('service', `${method} ${url} answers with more than ${limit} bytes`, {
      nextStep: 'If an answer may be as long as that, raise source.limits.',
    });
  }
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Undoes a content coding (RFC 9110 section 8.4.1); `deflate` is the zlib format, as there. Null for one that is not
 * known, or more than one.
 */
export function decode(body: Readable, coding: string): Readable | null {
  const decoder = DECODERS.get(coding.trim().toLowerCase());
  // The fault of either is thrown where the result is read.
  return decoder === undefined ? null : pipeline(body, decoder(), () => {});
}
