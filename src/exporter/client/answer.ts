import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Call } from './call.ts';
import type { DispatchedAnswer } from './dispatch.ts';

/** The service shows more than a limit of the configuration allows. */
export class LimitError extends EvidenceError {
  /** @param nextStep names the limit. */
  constructor(message: string, nextStep: string) {
    super('service', message, { nextStep });
  }
}

const MAX_DISCARDED_BYTES = 64 * 1024;

/** Answer whose body has not been read yet. */
// Over ten members: the head of an HTTP answer, and each way to read its body.
export class Answer {
  readonly call: Call;
  /** Address that the answer came from, after redirects. */
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

  /** True if the body has a content coding, so that a part of it cannot be resumed. */
  get isEncoded(): boolean {
    return !/^(identity)?$/i.test(this.header('content-encoding') ?? '');
  }

  /** Returns a header field by its lowercase name; repeated fields are joined as one list (RFC 9110 section 5.3). */
  header(name: string): string | null {
    const value = this.#data.headers[name];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  }

  /** Stated length of the transferred bytes, encoded or not. */
  get contentLength(): number | null {
    const value = this.header('content-length');
    return value !== null && /^\d+$/.test(value) ? Number(value) : null;
  }

  /**
   * Yields the decoded content in chunks.
   * @param limit maximum number of bytes; a longer answer is aborted.
   * @param before number of bytes received earlier, which count too.
   * @throws EvidenceError `service` if the limit is exceeded or the content coding is unknown. Any other error is a
   * failure of the connection.
   */
  async *content(limit: number, before = 0): AsyncGenerator<Uint8Array> {
    const { body } = this.#data;
    try {
      if (!this.isEncoded && before + (this.contentLength ?? 0) > limit) throw this.#tooLong(limit);
      // Limits the encoded bytes too, because many of them may decode to nothing.
      body.limit(limit - before, () => this.#tooLong(limit));
      let bytes = before;
      for await (const chunk of this.#decoded() as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > limit) throw this.#tooLong(limit);
        yield chunk;
      }
      if (body.fault !== null) throw body.fault;
    } catch (error) {
      // The connection's error is more precise: a decoder only notices that bytes are missing.
      throw isEvidenceError(error) ? error : (body.fault ?? error);
    } finally {
      body.destroy();
    }
  }

  /** Returns the beginning of the content for a message, as far as it can be read. */
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
      // The status is sufficient.
    }
    return Buffer.concat(chunks).subarray(0, limit);
  }

  /** Reads a short body to its end so that the connection can be reused, and aborts a long one. */
  async discard(): Promise<void> {
    await this.beginning(MAX_DISCARDED_BYTES);
  }

  /** Closes the connection. */
  abandon(): void {
    this.#data.body.destroy();
  }

  #decoded(): Readable {
    const coding = this.header('content-encoding');
    const decoded = this.isEncoded ? decode(this.#data.body, coding ?? '') : this.#data.body;
    if (decoded !== null) return decoded;
    const { method, url } = this.call;
    const what = `${method} ${url} answered ${this.status} with Content-Encoding ${JSON.stringify(coding)}`;
    throw new EvidenceError('service', `${what}, which was not requested and cannot be read`);
  }

  #tooLong(limit: number): LimitError {
    const { method, url } = this.call;
    return new LimitError(
      `${method} ${url} answers with more than ${limit} bytes`,
      'If answers may be this long, raise source.limits.',
    );
  }
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Decodes a content coding (RFC 9110 section 8.4.1); `deflate` is the zlib format, as defined there. Null if the coding
 * is unknown or combined.
 */
export function decode(body: Readable, coding: string): Readable | null {
  const decoder = DECODERS.get(coding.trim().toLowerCase());
  // Errors of both streams surface when the result is read.
  return decoder === undefined ? null : pipeline(body, decoder(), () => {});
}
