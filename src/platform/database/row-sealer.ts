import { createHmac, type KeyObject } from 'node:crypto';

/** Seals rows that give power, which anyone with access to the database could otherwise write. */
export class RowSealer {
  readonly #key: KeyObject;

  /** @param key `DerivedSealKeys.ofRows`. */
  constructor(key: KeyObject) {
    this.#key = key;
  }

  /** Returns the hex HMAC-SHA-256 of a row. Its JSON is unambiguous: no two rows have the same text. */
  of(table: string, content: readonly unknown[]): string {
    const texts = content.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value));
    return createHmac('sha256', this.#key)
      .update(JSON.stringify(['row', table, ...texts]))
      .digest('hex');
  }
}
