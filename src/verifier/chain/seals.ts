import { hexAt, isNoted } from '../model/batch.ts';
import type { Entry, SealKeys } from '../model/entry.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type FindingPlace, placeOf, type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { EntryReader } from '../reading/contract.ts';
import { differingEntries, type Run } from './runs.ts';

/** Made-up entries may each name a key of their own. */
const MOST_KEYS = 1000;

/** Numbers of the seals that were seen of one stream. */
export interface SealCounts {
  /** Entries that have one, whether or not it could be checked. */
  present: number;
  /** Entries that have none, or one that does not name its key. */
  missing: number;
  verified: number;
  /** Made with a key that was not given: the first, whether one of a given key stands before it, and which keys. */
  unknown: {
    entries: number;
    first: { sequence: number; keyId: string; behindKnown: boolean } | null;
    keyIds: Set<string>;
  };
  /** `seal/missing` of the entries without one, if they are among others that have one; else nothing is wrong with that. */
  unsealed: FindingLog;
  /** The ids of the given keys that seals and digests were checked with. */
  keyIds: Set<string>;
}

/** Checks the seals of one stream, in the order of arrival. Their form is checked without any key. */
export class SealCheck {
  readonly #streamId: string;
  readonly #contract: Pick<EntryReader, 'hasSeals'>;
  readonly #keys: SealKeys;
  readonly #log: FindingLog;
  readonly #counts: SealCounts = {
    present: 0,
    missing: 0,
    verified: 0,
    unknown: { entries: 0, first: null, keyIds: new Set() },
    unsealed: new FindingLog(),
    keyIds: new Set(),
  };

  constructor(streamId: string, contract: Pick<EntryReader, 'hasSeals'>, keys: SealKeys, log: FindingLog) {
    this.#streamId = streamId;
    this.#contract = contract;
    this.#keys = keys;
    this.#log = log;
  }

  push({ batch, from, to }: Run): void {
    if (!this.#contract.hasSeals) return;
    const isComputed = isNoted(batch, from) ? this.#noteSeal(batch.entry(from)) : this.#keys.size > 0;
    if (isComputed) this.#compare({ batch, from, to });
  }

  /** Entries whose seals were computed. What a seal should be is a secret of the key's holder, so it is not reported. */
  #compare({ batch, from, to }: Run): void {
    const { statedSeals, computedSeals, sealBytes: bytes } = batch;
    if (bytes === 0) throw new TypeError('the decoder has computed no seals');
    const differing = differingEntries(statedSeals, computedSeals, { bytes, from, to });
    this.#counts.present += to - from;
    this.#counts.verified += to - from - differing.length;
    for (const index of differing) {
      const sequence = batch.sequences[index] ?? 0;
      this.#log.addAt('seal/mismatch', sequence, () => {
        const entry = batch.entry(index);
        const keyId = entry.seal === null || entry.seal === 'malformed' ? null : entry.seal.keyId;
        const words = `the seal of entry ${sequence} was not made with the key given as "${keyId}"`;
        return this.#finding('seal/mismatch', entry, words, { expected: hexAt(statedSeals, index, bytes) });
      });
    }
  }

  /** Returns true if the entry has a seal of a given key. */
  #noteSeal(entry: Entry): boolean {
    const { seal, sequence } = entry;
    if (seal === 'malformed') {
      const words = `what entry ${sequence} has in the place of its seal is none: not of the form or not of the length of one`;
      this.#log.add(this.#finding('seal/malformed', entry, words));
      return false;
    }
    if (this.#keys.size === 0) return false;
    if (seal === null || seal.keyId === null) {
      this.#counts.missing++;
      const words = seal === null ? `entry ${sequence} has no seal` : `the seal of entry ${sequence} names no key`;
      this.#counts.unsealed.add(this.#finding('seal/missing', entry, words));
      return false;
    }
    if (this.#keys.has(seal.keyId)) return true;
    this.#counts.present++;
    this.#unknownKey(entry, seal.keyId);
    return false;
  }

  /** Takes note of a key that a digest or a seal was checked with. */
  noteKey(id: string): void {
    this.#counts.keyIds.add(id);
  }

  finish(): SealCounts {
    return this.#counts;
  }

  #unknownKey(entry: Entry, keyId: string): void {
    const { sequence } = entry;
    const { unknown, verified } = this.#counts;
    unknown.entries++;
    if (unknown.keyIds.size < MOST_KEYS) unknown.keyIds.add(keyId);
    unknown.first ??= { sequence, keyId, behindKnown: verified > 0 };
    const words = `entry ${sequence} is sealed with the key "${keyId}", which was not given`;
    this.#log.add(this.#finding('seal/unknown-key', entry, words));
  }

  #finding(
    code: 'seal/malformed' | 'seal/missing' | 'seal/mismatch' | 'seal/unknown-key',
    entry: Entry,
    message: string,
    more: FindingPlace = {},
  ): StreamFinding {
    return toStreamFinding(code, this.#streamId, message, { ...placeOf(entry), ...more });
  }
}
