import { STREAM } from '../../../support/chain.ts';
import { type Dialect, digestBytes, stamp } from '../../../support/dialects.ts';
import { ComparedDecoders, type Taken } from '../compared.ts';

/** Decoders for elements of a dialect, given as latin1. */
export class DialectDecoder {
  readonly #dialect: Dialect;
  readonly #decoders: ComparedDecoders;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#decoders = new ComparedDecoders({ contract: dialect.contract, keys: dialect.keys, streamId: STREAM });
  }

  /** Returns the entries taken from the elements, in blocks of this size. */
  taken(elements: readonly string[], block?: number): Taken {
    return this.#decoders.taken(Buffer.from(`${elements.join(',')}]`, 'latin1'), block);
  }

  /** Returns the digest that the module computes of an element after `before`. */
  ownDigest(before: readonly string[], draft: string): string {
    const zeros = '00'.repeat(digestBytes(this.#dialect));
    return this.#decoders.ownDigest([...before, stamp(this.#dialect, draft, zeros)]);
  }

  disagreement(taken: Taken): string | null {
    return this.#decoders.disagreement(taken);
  }
}
