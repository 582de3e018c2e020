import {
  chainIn,
  type Dialect,
  digestTextOf,
  draftOf,
  genesisOf,
  type Random,
  readOne,
  type Style,
  stamp,
} from '../../../support/dialects.ts';
import { mutate } from '../../../support/mutate.ts';
import type { Taken } from '../compared.ts';
import { DialectDecoder } from './dialect-decoder.ts';

export const STYLES: readonly Style[] = [false, true].flatMap((spaced) =>
  [false, true].flatMap((ascii) => [false, true].map((pretty) => ({ spaced, ascii, pretty }))),
);

/** Mutates entries of a dialect, states the decoder's digest and the slow path's in each, and compares the verdicts. */
export class Mutations {
  readonly counts = { mutations: 0, accepted: 0, readable: 0, split: 0 };
  readonly #dialect: Dialect;
  readonly #random: Random;
  readonly #decoder: DialectDecoder;
  readonly #before: readonly string[][];

  constructor(dialect: Dialect, random: Random) {
    this.#dialect = dialect;
    this.#random = random;
    this.#before = [[], chainIn(dialect, 1, random), chainIn(dialect, 2, random)];
    this.#decoder = new DialectDecoder(dialect);
  }

  /** Runs one mutation. Returns the disagreement, or null. */
  next(): string | null {
    const random = this.#random;
    const before = this.#before[random(3)] ?? [];
    const draft = this.#draft(before);
    this.counts.mutations++;
    const slow = readOne(this.#dialect, stamp(this.#dialect, draft));
    if (slow?.content.state === 'computed') this.counts.readable++;
    const digests = [
      this.#decoder.ownDigest(before, draft),
      slow?.content.state === 'computed' ? slow.content.digest : null,
    ];
    for (const digest of new Set(digests)) {
      if (digest === null) continue;
      const elements = [...before, stamp(this.#dialect, draft, digest)];
      const taken = this.#decoder.taken(elements);
      if (taken.rows.length > before.length) this.counts.accepted++;
      const reason = this.#decoder.disagreement(taken) ?? this.#inBlocks(elements, taken);
      if (reason !== null) return `${this.#dialect.name}: ${reason}\n${JSON.stringify(elements)} (latin1)`;
    }
    return null;
  }

  #draft(before: readonly string[]): string {
    const random = this.#random;
    const last = before.at(-1);
    const previous = last === undefined ? genesisOf(this.#dialect) : digestTextOf(this.#dialect, last);
    const style = STYLES[random(STYLES.length)] ?? { spaced: false, ascii: false, pretty: false };
    let draft = draftOf(this.#dialect, before.length, previous, style, random);
    for (let mutations = random(4); mutations > 0; mutations--) draft = mutate(draft, random);
    return draft;
  }

  #inBlocks(elements: readonly string[], whole: Taken): string | null {
    if (this.#random(32) !== 0) return null;
    this.counts.split++;
    const parts = this.#decoder.taken(elements, 1 + this.#random(elements.join().length));
    return JSON.stringify(parts) === JSON.stringify(whole) ? null : `in blocks: ${JSON.stringify(parts)}`;
  }
}
