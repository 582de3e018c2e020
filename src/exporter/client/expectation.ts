import type { Accepts } from './call.ts';

/** Number of bytes within which a PDF must say that it is one, as readers have it (ISO 32000-1, note 13). */
const HEAD_BYTES = 1024;

/** A mark in UTF-8, read as Latin-1; a reader may overlook it (RFC 8259 section 8.1). */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** A judgement by its first bytes whether an answer is what was asked for. */
export class Expectation {
  readonly #accepts: Accepts;
  readonly #isHtml: boolean;
  #head: Buffer = Buffer.alloc(0);
  #fits: boolean;

  constructor(accepts: Accepts, contentType: string) {
    this.#accepts = accepts;
    this.#isHtml = /^\s*(text\/html|application\/xhtml\+xml)/i.test(contentType);
    this.#fits = accepts === 'any';
  }

  /** The first bytes, as far as they were looked at. */
  get head(): Uint8Array {
    return this.#head;
  }

  /** Takes the next piece. Why it is not what was asked for, in words that go on from "but", or null. */
  see(chunk: Uint8Array): string | null {
    if (this.#head.length < HEAD_BYTES)
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)]);
    if (this.#fits) return null;
    const verdict = this.#isHtml ? false : this.#looksRight();
    this.#fits = verdict === true;
    return verdict === false ? this.#why() : null;
  }

  /** The same, when nothing more comes. */
  end(): string | null {
    if (this.#head.length === 0) return 'there is nothing in it';
    return this.#fits ? null : this.#why();
  }

  /** Null while that cannot be told. */
  #looksRight(): boolean | null {
    const text = this.#head.toString('latin1');
    if (this.#accepts === 'pdf') return text.includes('%PDF-') || (text.length < HEAD_BYTES ? null : false);
    if (BYTE_ORDER_MARK.startsWith(text)) return null;
    const first = text.replace(BYTE_ORDER_MARK, '').trimStart().charAt(0);
    if (first === '') return text.length < HEAD_BYTES ? null : false;
    return first === '{' || first === '[';
  }

  #why(): string {
    return this.#accepts === 'pdf' ? 'this is not a PDF' : 'this is not JSON';
  }
}
