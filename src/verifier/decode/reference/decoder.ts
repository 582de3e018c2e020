import { hexBytes, utf8Bytes } from '../../../core/bytes.ts';
import { ElementScanner } from '../../../core/json/elements.ts';
import type { SpareMemory } from '../../../core/spare-memory.ts';
import { type EntryBatch, FLAG, type SentEntries, sentEntry, type UnhashedAt } from '../../model/batch.ts';
import type { Entry, SealKeys } from '../../model/entry.ts';
import { unhashedKey } from '../../model/unhashed.ts';
import type { EntryReader } from '../../reading/contract.ts';
import type { Decoded, EntryDecoder, Place } from '../decoder.ts';

/**
 * Decoder that decides: parses every entry, serializes it as its contract hashes it, and hashes it. It accepts
 * everything readable and notes what is unusual. The fast decoder accepts only entries that this one would not note.
 */
export class ReferenceDecoder implements EntryDecoder {
  readonly #contract: EntryReader;
  readonly #keys: SealKeys;

  constructor(contract: EntryReader, keys: SealKeys) {
    this.#contract = contract;
    this.#keys = keys;
  }

  /** @throws EvidenceError `contract` or `unreadable` if an entry cannot be read as the contract says. */
  decode(bytes: Uint8Array, at: number, place: Place): Decoded {
    const found: Found[] = [];
    const scanner = new ElementScanner([], {
      onElement: (element, members) => {
        const start = element.byteOffset - bytes.byteOffset;
        const entry = this.#contract.readEntry(element, members, this.#keys);
        found.push({ entry, start, end: start + element.length });
      },
    });
    scanner.push(OPEN_ARRAY);
    scanner.push(bytes.subarray(at));
    const end = found.at(-1)?.end ?? at;
    return { batch: found.length === 0 ? null : this.#toBatch(bytes, found), end, place: end > at ? 'after' : place };
  }

  /** Reads a single entry. */
  read(bytes: Uint8Array): Entry {
    const { batch } = this.decode(bytes, 0, 'next');
    if (batch === null) throw new TypeError('these are not the bytes of an entry');
    return batch.entry(0);
  }

  /** Does nothing: the keys belong to the caller. */
  [Symbol.dispose](): void {}

  #toBatch(bytes: Uint8Array, found: readonly Found[]): EntryBatch {
    const { genesis } = this.#contract;
    const entries = found.map(({ entry }) => entry);
    const digestBytes = Math.max(...entries.map(({ digest }) => digest.length)) / 2;
    const digests = (of: (entry: Entry) => string) => toColumn(entries.map(of), digestBytes);
    const seals = entries.map((entry) => this.#sealsOf(entry));
    const sealBytes = Math.max(...seals.map((seal) => seal?.computed.length ?? 0)) / 2;
    return {
      count: entries.length,
      sequences: Float64Array.from(entries, ({ sequence }) => sequence),
      times: Float64Array.from(entries, ({ timestamp }) => Date.parse(timestamp)),
      flags: Uint8Array.from(entries, (entry, index) => flagsOf(entry, genesis, this.#isPlain(entry, seals[index]))),
      digestBytes,
      previous: digests(({ previous }) => (previous === genesis || previous.length > 2 * digestBytes ? '' : previous)),
      stated: digests(({ digest }) => digest),
      computed: digests(({ content }) => (content.state === 'computed' ? content.digest : '')),
      sealBytes,
      statedSeals: toColumn(
        seals.map((seal) => seal?.stated ?? ''),
        sealBytes,
      ),
      computedSeals: toColumn(
        seals.map((seal) => seal?.computed ?? ''),
        sealBytes,
      ),
      streams: entries.map(({ streamId }) => streamId),
      unhashed: unhashedOf(entries),
      keyIds: [...new Set(entries.flatMap((entry, index) => keyIdsOf(entry, seals[index])))],
      timestamp: (index) => entryAt(entries, index).timestamp,
      sent: (index) => bytes.subarray(found[index]?.start, found[index]?.end),
      entry: (index) => entryAt(entries, index),
      keep: (from, to, spare) => keep(found, bytes, from, to, spare),
    };
  }

  /** Returns null if the entry has no seal that a given key could have made. */
  #sealsOf(entry: Entry): Seals | null {
    const { seal } = entry;
    if (!this.#contract.hasSeals || seal === null || seal === 'malformed' || seal.keyId === null) return null;
    const key = this.#keys.get(seal.keyId);
    if (key === undefined) return null;
    return { keyId: seal.keyId, stated: seal.value, computed: this.#contract.sealOf(key, entry) };
  }

  #isPlain({ seal, content }: Entry, seals: Seals | null | undefined): boolean {
    if (content.state !== 'computed') return false;
    if (!this.#contract.hasSeals) return true;
    return this.#keys.size === 0 ? seal !== 'malformed' : seals != null;
  }
}

/** Seal that an entry states, and the seal made with the key that it names; lower-case hex. */
interface Seals {
  keyId: string;
  stated: string;
  computed: string;
}

function keyIdsOf({ content }: Entry, seals: Seals | null | undefined): string[] {
  const digestKey = content.state === 'computed' && content.keyId !== null ? [content.keyId] : [];
  return seals == null ? digestKey : [...digestKey, seals.keyId];
}

function toColumn(digests: readonly string[], bytes: number): Uint8Array {
  const column = new Uint8Array(digests.length * bytes);
  for (const [index, digest] of digests.entries()) column.set(hexBytes(digest), index * bytes);
  return column;
}

const OPEN_ARRAY = utf8Bytes('[');

/** Entry with its offsets. */
interface Found {
  entry: Entry;
  start: number;
  end: number;
}

function flagsOf(entry: Entry, genesis: string, isPlain: boolean): number {
  const computed = entry.content.state === 'computed' ? FLAG.computed : 0;
  return (entry.previous === genesis ? FLAG.first : 0) | computed | (isPlain ? 0 : FLAG.noted);
}

/** Returns the parts that entries leave open, each once, with the first entry that does. */
function unhashedOf(entries: readonly Entry[]): UnhashedAt[] {
  const found = new Map<string, UnhashedAt>();
  for (const [entry, { content }] of entries.entries())
    for (const unhashed of content.state === 'computed' ? content.unhashed : []) {
      const key = unhashedKey(unhashed);
      if (!found.has(key)) found.set(key, { entry, unhashed });
    }
  return [...found.values()];
}

function entryAt(entries: readonly Entry[], index: number): Entry {
  const entry = entries[index];
  if (entry === undefined) throw new RangeError('there is no such entry in the batch');
  return entry;
}

function keep(found: readonly Found[], bytes: Uint8Array, from: number, to: number, spare: SpareMemory): SentEntries {
  const kept = found.slice(from, to);
  const [first, last] = [kept[0], kept.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('there is nothing to keep');
  if (kept.length === 1) return sentEntry(first.entry, bytes.subarray(first.start, first.end));
  const sent = bytes.subarray(first.start, last.end);
  const memory = spare.take(sent.length);
  memory.set(sent);
  const at = (index: number) => kept[index] ?? first;
  return {
    count: kept.length,
    bytes: memory.subarray(0, sent.length),
    sequence: (index) => at(index).entry.sequence,
    start: (index) => at(index).start - first.start,
    end: (index) => at(index).end - first.start,
    digest: (index) => at(index).entry.digest,
    timestamp: (index) => at(index).entry.timestamp,
    release: () => spare.giveBack(memory),
  };
}
