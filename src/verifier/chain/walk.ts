// Over 250 lines: every check of an entry in one walk, to be read top to bottom.

import type { Tip } from '../decode/wasm/kernel.ts';
import type { Entry, SealKeys } from '../model/entry.ts';
import { FindingLog } from '../model/finding-log.ts';
import { placeOf, type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { Contract } from '../reading/contract.ts';
import { MORE } from '../recipe/roles.ts';
import { type Activity, ActivityCount } from './activity.ts';
import { ContentHash, NONE, type Section, type SectionHashes } from './content-hash.ts';
import { type DatedEntries, type DatedQuestion, DatedSearch } from './dated.ts';
import { type Occurred, StreamEnds } from './ends.ts';
import { OrderCheck } from './order.ts';
import type { RegularEntries, RegularWalk } from './regular.ts';
import { SealCheck, type SealCounts } from './seals.ts';

/** A place in a chain: the entry with this number has this digest. */
export interface Head {
  sequence: number;
  digest: string;
}

/** An entry whose number the caller had asked for. */
export interface Watched {
  stated: string;
  /** Null when nobody here can compute it, or its bytes can be read in two ways. */
  computed: string | null;
  /** Its bytes can be read in two ways. */
  ambiguous: boolean;
  /** As sent: RFC 3339. */
  timestamp: string;
}

/** What another reading of the stream saw: the entries at its ends and the one before are watched, and by content where that alone tells. */
export interface ComparedSection extends Section {
  byContent: boolean;
}

/** What a walk looks out for besides what is wrong. */
export interface WalkQuestions {
  /** Sequence numbers whose digests the caller wants to see. */
  watch?: Iterable<number>;
  /** What other readings of the stream saw; null where nobody will compare it with any. */
  compared?: readonly ComparedSection[] | null;
  dated?: readonly DatedQuestion[];
}

/** What is kept of what is not hashed; beyond it, that there is more. */
const MAX_UNCOVERED = 50;

/** What was seen of one stream. */
// Over ten members: it is what one walk over all entries finds.
export interface WalkResult {
  streamId: string;
  entries: number;
  /** The entry with the lowest number, and what it names as its predecessor. */
  first: { sequence: number; previous: string } | null;
  /** The entry with the highest number and its stated digest; it is our own too where `content` was recomputed. */
  head: Head | null;
  /** Starts with the number of a stream's first entry. */
  startsAtFirst: boolean;
  /** And that entry names no predecessor. */
  startsAtGenesis: boolean;
  contentComputed: number;
  /**
   * Every digest was computed from its entry and is over all of it and over the digest before: so the head stands for
   * all of the entries.
   */
  bound: boolean;
  /** When the entries with the lowest and the highest number were recorded; milliseconds since 1970, or not a number. */
  times: { first: number; last: number };
  occurred: Occurred;
  /** By `ContentHash`; none where digests bind, and nobody asked for more. */
  contents: SectionHashes;
  /** Entries that hold a number that changes when it is read, and the first of them. */
  inexact: { entries: number; first: { sequence: number; number: string } | null };
  /** What of entries their digests say nothing about, as far as it is kept. */
  uncovered: ReadonlySet<string>;
  seals: SealCounts;
  /** When the entries were recorded, as they say. */
  activity: Activity;
  /** The entries whose number was asked for, as they were met. */
  watched: ReadonlyMap<number, Watched>;
  /** The answers to what was asked by time. */
  dated: DatedEntries;
  findings: FindingLog;
}

/**
 * Walks one stream's chain, an entry at a time, in the order of arrival: its order and links, every digest from the
 * entry's own bytes, every seal for whose key id a key is given. Everything that deviates is reported; nothing stops
 * the walk.
 *
 * Links are held to the digests as stated, and each stated digest to our own: so an entry that was edited is one
 * finding, and not another one at every entry behind it.
 */
export class ChainWalk implements RegularWalk {
  readonly streamId: string;
  readonly #contract: Contract;
  readonly #keys: SealKeys;
  /** Sequence numbers whose digests the caller wants to see. */
  readonly watch: ReadonlySet<number>;
  readonly dated: readonly DatedQuestion[];
  readonly #log = new FindingLog();
  readonly #order: OrderCheck;
  readonly #watched = new Map<number, Watched>();
  readonly #sections: readonly ComparedSection[];
  readonly #isCompared: boolean;
  /** Null as long as digests bind what they are of. */
  #content: ContentHash | null;
  #unbound = 0;
  #entries = 0;
  #contentComputed = 0;
  readonly #inexact: WalkResult['inexact'] = { entries: 0, first: null };
  readonly #uncovered = new Set<string>();
  readonly #seals: SealCheck;
  readonly #activity = new ActivityCount();
  readonly #ends = new StreamEnds();
  readonly #search: DatedSearch;

  constructor(streamId: string, contract: Contract, keys: SealKeys, questions: WalkQuestions = {}) {
    const { watch = [], compared = null, dated = [] } = questions;
    this.streamId = streamId;
    this.#contract = contract;
    this.#keys = keys;
    this.dated = dated;
    this.#search = new DatedSearch(dated);
    this.#sections = compared ?? [];
    this.#isCompared = compared !== null;
    this.watch = new Set([...watch, ...this.#sections.flatMap(({ first, last }) => [first - 1, last])]);
    const byContent = !contract.bindsPredecessor || this.#sections.some((section) => section.byContent);
    this.#content = this.#isCompared && byContent ? new ContentHash(this.#sections) : null;
    this.#order = new OrderCheck(streamId, contract, this.#log);
    this.#seals = new SealCheck(streamId, contract, keys, this.#log);
  }

  /** @param bytes the entry as it was sent. */
  push(entry: Entry, bytes: Uint8Array): void {
    this.#entries++;
    this.#noteBinding(entry);
    const time = Date.parse(entry.timestamp);
    this.#activity.add(time);
    const ours = this.#checkStream(entry);
    this.#checkContent(entry);
    this.#seals.push(entry);
    if (!ours) return;
    this.#order.push(entry);
    this.#search.add(entry.sequence, time);
    this.#ends.add(entry.sequence, entry.words);
    this.#content?.push(entry.sequence, bytes);
    if (this.watch.has(entry.sequence) && !this.#watched.has(entry.sequence))
      this.#watched.set(entry.sequence, {
        stated: entry.digest,
        computed: entry.content.state === 'computed' ? entry.content.digest : null,
        ambiguous: entry.content.state === 'ambiguous',
        timestamp: entry.timestamp,
      });
  }

  /** What is hashed by its content has to be seen entry by entry. */
  get tip(): Tip | null {
    return this.#content === null ? this.#order.tip : null;
  }

  get uncovered(): ReadonlySet<string> {
    return this.#uncovered;
  }

  pushRegular(entries: RegularEntries): void {
    const { count } = entries;
    this.#entries += count;
    this.#contentComputed += count;
    this.#activity.addAll(entries.activity);
    this.#seals.extend(entries);
    this.#order.extend(entries);
    entries.searchDated(this.#search);
    this.#noteEnds(entries);
    for (const sequence of this.watch) {
      const entry = this.#watched.has(sequence) ? undefined : entries.find(sequence);
      if (entry === undefined) continue;
      const { digest, timestamp } = entry;
      this.#watched.set(sequence, { stated: digest, computed: digest, ambiguous: false, timestamp });
    }
  }

  /** Ends the walk; call once. */
  finish(): WalkResult {
    const ends = this.#order.finish();
    const first = ends === null ? null : { sequence: ends.first.from, previous: ends.first.firstPrevious };
    const startsAtFirst = first?.sequence === this.#contract.firstSequence;
    return {
      streamId: this.streamId,
      entries: this.#entries,
      first,
      head: ends?.last ?? null,
      startsAtFirst,
      startsAtGenesis: startsAtFirst && first?.previous === this.#contract.genesis,
      contentComputed: this.#contentComputed,
      bound: this.#unbound === 0 && this.#contract.bindsPredecessor,
      times: { first: ends?.first.firstTimestamp ?? Number.NaN, last: ends?.lastTimestamp ?? Number.NaN },
      occurred: this.#ends.finish(),
      contents: this.#content?.finish() ?? NONE,
      inexact: this.#inexact,
      uncovered: this.#uncovered,
      seals: this.#seals.finish(),
      activity: this.#activity.finish(),
      watched: this.#watched,
      dated: this.#search.found,
      findings: this.#log,
    };
  }

  /** The entries are in memory that is used again. */
  #noteEnds({ firstSequence, tip, ends }: RegularEntries): void {
    for (const [sequence, bytes] of [[firstSequence, ends.first] as const, [tip.sequence, ends.last] as const]) {
      const kept = bytes.slice();
      this.#ends.add(sequence, () => this.#contract.describeEntry(kept));
    }
  }

  /** A stream whose first entry no digest binds is hashed by its content. */
  #noteBinding({ content, digest }: Entry): void {
    const { unhashedSeal } = this.#contract;
    const says = content.state === 'computed' && content.uncovered.every((name) => name === unhashedSeal);
    if (!says && this.#entries === 1 && this.#isCompared) this.#content ??= new ContentHash(this.#sections);
    if (!says || content.digest !== digest) this.#unbound++;
  }

  /** Whether the entry takes part in this chain: an alien one does only where it was linked in. */
  #checkStream(entry: Entry): boolean {
    if (entry.streamId === null || entry.streamId === this.streamId) return true;
    this.#report('order/foreign-entry', entry, `entry ${entry.sequence} belongs to the stream "${entry.streamId}"`);
    return this.#order.continues(entry);
  }

  #checkContent(entry: Entry): void {
    const { content, sequence } = entry;
    if (content.state === 'ambiguous') {
      this.#report('content/ambiguous-json', entry, `entry ${sequence} can be read in two ways: ${content.reason}`);
      return;
    }
    if (content.state === 'no-recipe') return;
    if (content.state === 'no-key') {
      const words = `the digest of entry ${sequence} is made with the key "${content.keyId}", which was not given`;
      if (this.#keys.size > 0) this.#report('seal/unknown-key', entry, words);
      return;
    }
    if (content.state === 'inexact') {
      this.#inexact.entries++;
      this.#inexact.first ??= { sequence, number: content.number };
      const words = `entry ${sequence} holds the number ${content.number}, which is another one when it is read`;
      this.#report('content/inexact-number', entry, words);
      return;
    }
    this.#contentComputed++;
    if (content.keyId !== null) this.#seals.noteKey(content.keyId);
    for (const name of content.uncovered)
      if (!this.#uncovered.has(name)) this.#uncovered.add(this.#uncovered.size < MAX_UNCOVERED ? name : MORE);
    if (content.digest !== entry.digest)
      this.#report('content/mismatch', entry, `the digest of entry ${sequence} is not that of its content`, {
        expected: entry.digest,
        actual: content.digest,
      });
  }

  #report(
    code: StreamFinding['code'],
    entry: Entry,
    message: string,
    values: { expected?: string; actual?: string } = {},
  ): void {
    this.#log.add(toStreamFinding(code, this.streamId, message, { ...placeOf(entry), ...values }));
  }
}
