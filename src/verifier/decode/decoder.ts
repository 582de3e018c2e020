import type { EntryBatch } from '../model/batch.ts';

/** Places where decoding begins or ends: after an opening bracket, an entry, or the comma after one. */
export type Place = 'first' | 'after' | 'next';

export interface Decoded {
  /** Valid until the decoder is called again; null where no entry was decoded. */
  batch: EntryBatch | null;
  /** The offset where decoding ended: after an entry, perhaps after white space and a comma that follow it. */
  end: number;
  place: Place;
}

/**
 * Decodes entries of an array. It says what an entry states and what it computed of the entry, and compares neither with
 * the other, nor the entry with another one. What it says depends on the entry's bytes alone, and on the contract, the
 * stream and the keys that the decoder was made with. Disposing of it forgets the keys.
 */
export interface EntryDecoder extends Disposable {
  /**
   * Decodes entries from `at` on, as many as are whole and as it is sure of.
   * @param place what stands before `at`.
   */
  decode(bytes: Uint8Array, at: number, place: Place): Decoded;
}
