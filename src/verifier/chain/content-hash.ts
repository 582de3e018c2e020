import { createHash, type Hash } from 'node:crypto';
import { joinBytes, utf8Bytes } from '../../core/bytes.ts';
import { canonicalize } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';

/** Entries of a stream that follow one another, from the first to the last of them. */
export interface Section {
  first: number;
  last: number;
}

/** Lower-case hex, by the first and the last number of a section. */
export type SectionHashes = ReadonlyMap<`${number}-${number}`, string>;

export const NONE: SectionHashes = new Map();

/**
 * SHA-256 over sections of a stream, for entries whose digests say nothing or not all of them: of each entry a line in
 * the canonical form of RFC 8785, so that white space and the order of members make no difference; an entry that has
 * no such form is taken as it was sent.
 *
 * Told are the sections that begin where one of `asked` or the stream's own part begins, and end where one of `asked`
 * or that part ends.
 */
export class ContentHash {
  readonly #asked: readonly Section[];
  readonly #ends: ReadonlySet<number>;
  /** By the number that they begin with. */
  readonly #running = new Map<number, Hash>();
  readonly #found = new Map<`${number}-${number}`, string>();
  #first: number | null = null;
  #last: number | null = null;
  /** Entries that do not follow one another are no section. */
  #broken = false;

  constructor(asked: readonly Section[]) {
    this.#asked = asked;
    this.#ends = new Set(asked.map(({ last }) => last));
  }

  push(sequence: number, bytes: Uint8Array): void {
    if (this.#broken) return;
    if (this.#last !== null && sequence !== this.#last + 1) {
      this.#broken = true;
      return;
    }
    this.#begin(sequence);
    const line = lineOf(bytes);
    for (const [first, hash] of this.#running) {
      hash.update(line);
      if (this.#ends.has(sequence)) this.#found.set(`${first}-${sequence}`, hash.copy().digest('hex'));
    }
    this.#last = sequence;
  }

  /** Ends the computation; call once. */
  finish(): SectionHashes {
    const last = this.#last;
    if (this.#broken || last === null) return NONE;
    for (const [first, hash] of this.#running) this.#found.set(`${first}-${last}`, hash.digest('hex'));
    return this.#found;
  }

  #begin(sequence: number): void {
    if (this.#first === null) this.#first = sequence;
    else if (!this.#asked.some(({ first }) => first === sequence)) return;
    this.#running.set(sequence, createHash('sha256'));
  }
}

function lineOf(bytes: Uint8Array): Uint8Array {
  const { value, ambiguity } = parseExactJson(bytes);
  const text = ambiguity === null ? utf8Bytes(canonicalize(value)) : bytes;
  return joinBytes([text, LINE_FEED]);
}

const LINE_FEED = utf8Bytes('\n');
