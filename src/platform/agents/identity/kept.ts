import { sha256 } from '../../../core/digest.ts';

/** A cache of signed documents: each is kept while its content is the same and it is not too old. */
export class Kept<T> {
  readonly #kept = new Map<string, { mark: string; signedAt: number; signed: Promise<T> }>();
  readonly #longestMs: number;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** @param content of JSON, of which what is signed is made. */
  of(name: string, content: unknown, now: Date, sign: () => Promise<T>): Promise<T> {
    const mark = sha256(JSON.stringify(content));
    const known = this.#kept.get(name);
    const age = now.getTime() - (known?.signedAt ?? 0);
    if (known?.mark === mark && age >= 0 && age < this.#longestMs) return known.signed;
    const signed = sign();
    const kept = { mark, signedAt: now.getTime(), signed };
    this.#kept.set(name, kept);
    signed.catch(() => {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
    });
    return signed;
  }
}
