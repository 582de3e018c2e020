import { hexAt, isNoted } from '../model/batch.ts';
import type { Entry, SealKeys } from '../model/entry.ts';
import { FindingLog } from '../model/finding-log.ts';
import { type FindingPlace, placeOf, type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { EntryReader } from '../reading/contract.ts';
import { differingEntries, type Run } from './runs.ts';

/** Maximum number of unknown key ids kept, because forged entries may each name a different key. */
const MOST_KEYS = 1000;

/** Counts of the seals seen in one stream. */
export interface SealCounts {
  /** Entries that have a seal, whether or not it could be checked. */
  present: number;
  /** Entries that have no seal, or whose seal names no key. */
  missing: number;
  verified: number;
  /** Seals made with a key that was not given. `behindKnown`: a verified seal comes before the first of them. */
  unknown: {
    entries: number;
    first: { sequence: number; keyId: string; behindKnown: boolean } | null;
    keyIds: Set<string>;
  };
  /** `seal/missing` findings, which count only if other entries have seals or seals are required. */
  unsealed: FindingLog;
  /** Ids of the given keys that were used to check seals and digests. */
  keyIds: Set<string>;
}

/** Checks the seals of one stream in order of arrival. The form of a seal is checked even without keys. */
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

  /** Compares stated and computed seals. Findings leave out the computed seal, which only the key's holder may know. */
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
      const words = `the seal of entry ${sequence} has the wrong form or length`;
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

  /** Records that a key was used to check a digest or a seal. */
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
