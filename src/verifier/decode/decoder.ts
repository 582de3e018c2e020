import type { EntryBatch } from '../model/batch.ts';

/**
 * Place where decoding begins or ends: after an opening bracket, after an entry, or after the comma that follows an
 * entry.
 */
export type Place = 'first' | 'after' | 'next';

export interface Decoded {
  /** Valid until the decoder is called again; null if no entry was decoded. */
  batch: EntryBatch | null;
  /** Offset at which decoding ended: after an entry, or after white space and a comma that follow it. */
  end: number;
  place: Place;
}

/**
 * Decodes the entries of an array. Returns the stated and the computed values of each entry; compares neither these
 * values nor entries with each other. The result depends only on the entry's bytes and on the contract, stream and keys
 * of the decoder. Disposing of it forgets the keys.
 */
export interface EntryDecoder extends Disposable {
  /**
   * Decodes entries from `at` on, as many as are complete and as it can decode with certainty.
   * @param place place before `at`.
   */
  decode(bytes: Uint8Array, at: number, place: Place): Decoded;
}
