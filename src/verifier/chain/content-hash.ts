import { createHash, type Hash } from 'node:crypto';
import { joinBytes, utf8Bytes } from '../../core/bytes.ts';
import { canonicalize } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';

/** Consecutive entries of a stream, both ends included. */
export interface Section {
  first: number;
  last: number;
}

/** SHA-256 in lower-case hex, keyed by the first and the last number of a section. */
export type SectionHashes = ReadonlyMap<`${number}-${number}`, string>;

export const NONE: SectionHashes = new Map();

/**
 * Computes SHA-256 over sections of a stream, for streams whose digests do not cover all content. Each entry adds one
 * line: its canonical form of RFC 8785, so that white space and the order of members make no difference, or its bytes
 * as sent if it has no canonical form.
 *
 * Reports every section that begins at the `first` of an asked section or at the stream's first entry, and ends at the
 * `last` of an asked section or at the stream's last entry.
 */
export class ContentHash {
  readonly #asked: readonly Section[];
  readonly #ends: ReadonlySet<number>;
  /** Open sections, keyed by their first number. */
  readonly #running = new Map<number, Hash>();
  readonly #found = new Map<`${number}-${number}`, string>();
  #first: number | null = null;
  #last: number | null = null;
  /** True once an entry did not follow the one before; no section is reported from then on. */
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
