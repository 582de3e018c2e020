import type { Accepts } from './call.ts';

/** Number of bytes in which the header of a PDF must begin, as common readers require (ISO 32000-1, note 13). */
const HEAD_BYTES = 1024;

/** Byte order mark in UTF-8, read as Latin-1. Readers may ignore it (RFC 8259 section 8.1). */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** Checks by the first bytes of an answer that it has the expected form. */
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

  /** First bytes, as far as they were examined. */
  get head(): Uint8Array {
    return this.#head;
  }

  /**
   * Examines the next chunk. Returns the reason that the answer is not of the expected form, as words that continue
   * "but …"; null if there is none.
   */
  see(chunk: Uint8Array): string | null {
    if (this.#head.length < HEAD_BYTES)
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)]);
    if (this.#fits) return null;
    const verdict = this.#isHtml ? false : this.#looksRight();
    this.#fits = verdict === true;
    return verdict === false ? this.#why() : null;
  }

  /** Returns the same after the last chunk. */
  end(): string | null {
    if (this.#head.length === 0) return 'it is empty';
    return this.#fits ? null : this.#why();
  }

  /** Returns null while the form is undecided. */
  #looksRight(): boolean | null {
    const text = this.#head.toString('latin1');
    if (this.#accepts === 'pdf') return text.includes('%PDF-') || (text.length < HEAD_BYTES ? null : false);
    if (BYTE_ORDER_MARK.startsWith(text)) return null;
    const first = text.replace(BYTE_ORDER_MARK, '').trimStart().charAt(0);
    if (first === '') return text.length < HEAD_BYTES ? null : false;
    return first === '{' || first === '[';
  }

  #why(): string {
    return this.#accepts === 'pdf' ? 'it is not a PDF' : 'it is not JSON';
  }
}
