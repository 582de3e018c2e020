import type { Accepts } from './call.ts';

/** Within so many bytes a PDF says that it is one, as readers have it (ISO 32000-1, implementation note 13). */
const PDF_HEADER_WITHIN = 1024;

/** Whether what arrives is what was asked for, judged by its first bytes. */
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
    if (this.#head.length < PDF_HEADER_WITHIN)
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, PDF_HEADER_WITHIN - this.#head.length)]);
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
    if (this.#accepts === 'pdf') return text.includes('%PDF-') || (text.length < PDF_HEADER_WITHIN ? null : false);
    const first = /^(?:\xef\xbb\xbf)?[ \t\r\n]*([^ \t\r\n])/.exec(text)?.[1];
    if (first === undefined) return text.length < PDF_HEADER_WITHIN ? null : false;
    return first === '{' || first === '[' || (text.length < 3 && first === '\xef' ? null : false);
  }

  #why(): string {
    return this.#accepts === 'pdf' ? 'this is not a PDF' : 'this is not JSON';
  }
}
