// Over 250 lines: holds every check of an entry in one walk, to be read top to bottom.

import { type EntryBatch, FLAG, hexAt, isNoted, statedDigest } from '../model/batch.ts';
import type { Entry, SealKeys } from '../model/entry.ts';
import { FindingLog } from '../model/finding-log.ts';
import { placeOf, type StreamFindingCode, toStreamFinding } from '../model/stream-finding.ts';
import { type Unhashed, type UnhashedSet, unhashedKey } from '../model/unhashed.ts';
import type { Contract } from '../reading/contract.ts';
import { ActionCount, type CountedActions } from './actions.ts';
import { type Activity, ActivityCount } from './activity.ts';
import { ContentHash, NONE, type Section, type SectionHashes } from './content-hash.ts';
import { type DatedEntries, type DatedQuestion, DatedSearch } from './dated.ts';
import { type Occurred, StreamEnds } from './ends.ts';
import { OrderCheck } from './order.ts';
import { differingEntries, isOf, type Run, runsOf } from './runs.ts';
import { SealCheck, type SealCounts } from './seals.ts';

/** Place in a chain: the number of an entry and its digest. */
export interface Head {
  sequence: number;
  digest: string;
}

/** Entry whose number the caller asked for. */
export interface Watched {
  stated: string;
  /** Null if the digest could not be computed, or the entry is ambiguous. */
  computed: string | null;
  /** True if the entry's bytes can be read in two ways. */
  ambiguous: boolean;
  /** RFC 3339, as sent. */
  timestamp: string;
}

/**
 * Section that another reading of the stream saw. The walk watches its last entry and the one before its first.
 * `byContent`: the section's content is hashed as well.
 */
export interface ComparedSection extends Section {
  byContent: boolean;
}

/** Questions that a walk answers besides checking the chain. */
interface WalkQuestions {
  /** Sequence numbers whose digests the caller wants. */
  watch?: Iterable<number>;
  /** Sections that other readings of the stream saw; null if the result will not be compared with any. */
  compared?: readonly ComparedSection[] | null;
  dated?: readonly DatedQuestion[];
  /** True to count entries by action. */
  actions?: boolean;
}

/** Maximum number of unhashed members kept. */
const MAX_UNHASHED = 50;
const MORE: Unhashed = { kind: 'more' };

/** Result of a walk over one stream. */
// Over ten members: everything that one walk over all entries finds.
export interface WalkResult {
  streamId: string;
  entries: number;
  /** Entry with the lowest number, and the predecessor's digest that it states. */
  first: { sequence: number; previous: string } | null;
  /** Entry with the highest number and its stated digest, which is also our own if `content` was recomputed. */
  head: Head | null;
  /** True if the lowest number is that of a stream's first entry. */
  startsAtFirst: boolean;
  /** True if `startsAtFirst` and that entry states no predecessor. */
  startsAtGenesis: boolean;
  contentComputed: number;
  /**
   * True if every digest was recomputed and covers its whole entry and the digest before, so that the head stands for
   * all entries.
   */
  bound: boolean;
  /**
   * Times of recording of the entries with the lowest and the highest number, in milliseconds since 1970; NaN if
   * absent.
   */
  times: { first: number; last: number };
  occurred: Occurred;
  /** Hashes from `ContentHash`; empty if digests bind all content and the caller asked for none. */
  contents: SectionHashes;
  /** Entries that hold a number which changes when it is read, and the first of them. */
  inexact: { entries: number; first: { sequence: number; number: string } | null };
  /** Members of entries that digests do not cover, up to `MAX_UNHASHED`. */
  unhashed: UnhashedSet;
  seals: SealCounts;
  /** Entries by time of recording, as stated. */
  activity: Activity;
  actions: CountedActions;
  /** Entries whose number was asked for, as first seen. */
  watched: ReadonlyMap<number, Watched>;
  /** Answers to the questions by time. */
  dated: DatedEntries;
  findings: FindingLog;
}

/**
 * Walks one stream's chain, batch by batch, in order of arrival. Checks its order and links, every digest against the
 * one computed from the entry's bytes, and every seal whose key was given. Reports every finding; none stops the walk.
 * Decoders supply stated and computed values; this class alone compares them.
 *
 * Links are compared with the digests as stated, and each stated digest with our own: an edited entry is one finding,
 * not another one at every entry after it.
 */
export class ChainWalk {
  readonly streamId: string;
  readonly #contract: Contract;
  readonly #keys: SealKeys;
  /** Sequence numbers whose digests are kept in `#watched`. */
  readonly #watch: ReadonlySet<number>;
  readonly #log = new FindingLog();
  readonly #order: OrderCheck;
  readonly #watched = new Map<number, Watched>();
  readonly #sections: readonly ComparedSection[];
  readonly #isCompared: boolean;
  /** Null as long as no content needs hashing. */
  #content: ContentHash | null;
  #unbound = 0;
  #entries = 0;
  #contentComputed = 0;
  readonly #inexact: WalkResult['inexact'] = { entries: 0, first: null };
  readonly #unhashed = new Map<string, Unhashed>();
  readonly #seals: SealCheck;
  readonly #activity = new ActivityCount();
  /** Null if not requested. */
  readonly #actions: ActionCount | null;
  readonly #ends = new StreamEnds();
  readonly #search: DatedSearch;

  constructor(streamId: string, contract: Contract, keys: SealKeys, questions: WalkQuestions = {}) {
    const { watch = [], compared = null, dated = [], actions = false } = questions;
    this.streamId = streamId;
    this.#contract = contract;
    this.#keys = keys;
    this.#search = new DatedSearch(dated);
    this.#actions = actions ? new ActionCount(contract) : null;
    this.#sections = compared ?? [];
    this.#isCompared = compared !== null;
    this.#watch = new Set([...watch, ...this.#sections.flatMap(({ first, last }) => [first - 1, last])]);
    const byContent = !contract.bindsPredecessor || this.#sections.some((section) => section.byContent);
    this.#content = this.#isCompared && byContent ? new ContentHash(this.#sections) : null;
    this.#order = new OrderCheck(streamId, contract, this.#log);
    this.#seals = new SealCheck(streamId, contract, keys, this.#log);
  }

  /** @param see called with each run after it was walked. */
  push(batch: EntryBatch, see: (run: Run) => void = () => {}): void {
    this.#noteUnhashed(batch);
    for (const id of batch.keyIds) this.#seals.noteKey(id);
    for (const run of runsOf(batch, this.streamId)) {
      this.#pushRun(run);
      see(run);
    }
  }

  #pushRun(run: Run): void {
    const { batch, from, to } = run;
    const count = to - from;
    const timeOf = (index: number) => batch.times[from + index] ?? Number.NaN;
    this.#entries += count;
    this.#activity.addOrdered(count, timeOf);
    this.#actions?.add(batch, from, to);
    const isOurs = this.#checkStream(run);
    this.#checkContent(run);
    this.#seals.push(run);
    if (!isOurs) return;
    this.#order.push(run);
    this.#search.addOrdered(batch.sequences[from] ?? 0, count, timeOf);
    this.#noteEnds(run);
    for (let index = from; index < to && this.#content !== null; index++)
      this.#content.push(batch.sequences[index] ?? 0, batch.sent(index));
    this.#noteWatched(run);
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
      times: { first: ends?.first.firstTime ?? Number.NaN, last: ends?.lastTime ?? Number.NaN },
      occurred: this.#ends.finish(),
      contents: this.#content?.finish() ?? NONE,
      inexact: this.#inexact,
      unhashed: this.#unhashed,
      seals: this.#seals.finish(),
      activity: this.#activity.finish(),
      actions: this.#actions?.finish() ?? null,
      watched: this.#watched,
      dated: this.#search.found,
      findings: this.#log,
    };
  }

  /** Notes the entries that may be ends. Copies their bytes, because the memory of a batch is reused. */
  #noteEnds({ batch, from, to }: Run): void {
    for (const index of [from, to - 1])
      this.#ends.add(batch.sequences[index] ?? 0, () => {
        const bytes = new Uint8Array(batch.sent(index));
        return () => this.#contract.describeEntry(bytes);
      });
  }

  #noteWatched({ batch, from, to }: Run): void {
    const first = batch.sequences[from] ?? 0;
    for (const sequence of this.#watch) {
      const index = from + sequence - first;
      if (index < from || index >= to || this.#watched.has(sequence)) continue;
      this.#watched.set(sequence, {
        stated: statedDigest(batch, index),
        computed: isComputed(batch, index) ? hexAt(batch.computed, index, batch.digestBytes) : null,
        ambiguous: isNoted(batch, index) && batch.entry(index).content.state === 'ambiguous',
        timestamp: batch.timestamp(index),
      });
    }
  }

  /**
   * Notes what digests do not cover. A stream whose first entry is not fully covered is hashed by content from there.
   */
  #noteUnhashed(batch: EntryBatch): void {
    const seal = this.#contract.unhashedSeal;
    const isSeal = (unhashed: Unhashed) => seal !== null && unhashedKey(unhashed) === unhashedKey(seal);
    const open = batch.unhashed.filter(({ unhashed }) => !isSeal(unhashed));
    if (open.length > 0) this.#unbound++;
    const opensFirst = !isComputed(batch, 0) || open.some(({ entry }) => entry === 0);
    if (opensFirst && this.#entries === 0 && this.#isCompared) this.#content ??= new ContentHash(this.#sections);
    for (const { unhashed } of batch.unhashed) {
      const key = unhashedKey(unhashed);
      if (this.#unhashed.has(key)) continue;
      if (this.#unhashed.size < MAX_UNHASHED) this.#unhashed.set(key, unhashed);
      else this.#unhashed.set(unhashedKey(MORE), MORE);
    }
  }

  /** Reports whether a run is part of this chain. Entries of another stream are only if they were linked in. */
  #checkStream(run: Run): boolean {
    const stated = run.batch.streams?.[run.from] ?? null;
    if (isOf(this.streamId, stated)) return true;
    this.#report('order/foreign-entry', run, (sequence) => `entry ${sequence} belongs to the stream "${stated}"`);
    return this.#order.continues(run);
  }

  #checkContent({ batch, from, to }: Run): void {
    if (!isComputed(batch, from)) {
      this.#unbound++;
      this.#checkUncomputed({ batch, from, to }, batch.entry(from));
      return;
    }
    this.#contentComputed += to - from;
    const { stated, computed, digestBytes: bytes } = batch;
    for (const index of differingEntries(stated, computed, { bytes, from, to })) {
      this.#unbound++;
      this.#report(
        'content/mismatch',
        { batch, from: index, to: index + 1 },
        (sequence) => `the digest of entry ${sequence} is not that of its content`,
        { expected: hexAt(stated, index, bytes), actual: hexAt(computed, index, bytes) },
      );
    }
  }

  #checkUncomputed(run: Run, { content }: Entry): void {
    if (content.state === 'ambiguous') {
      const { reason } = content;
      this.#report('content/ambiguous-json', run, (at) => `entry ${at} can be read in two ways: ${reason}`);
    } else if (content.state === 'no-key') {
      const { keyId } = content;
      const words = (at: number) => `the digest of entry ${at} is made with the key "${keyId}", which was not given`;
      if (this.#keys.size > 0) this.#report('seal/unknown-key', run, words);
    } else if (content.state === 'inexact') {
      const { number } = content;
      this.#inexact.entries++;
      this.#inexact.first ??= { sequence: run.batch.sequences[run.from] ?? 0, number };
      const words = (at: number) => `entry ${at} holds the number ${number}, which changes when it is read`;
      this.#report('content/inexact-number', run, words);
    }
  }

  /** Reports a finding at the first entry of a run. */
  #report(
    code: StreamFindingCode,
    { batch, from }: Run,
    words: (sequence: number) => string,
    values: { expected?: string | undefined; actual?: string | undefined } = {},
  ): void {
    const sequence = batch.sequences[from] ?? 0;
    this.#log.addAt(code, sequence, () =>
      toStreamFinding(code, this.streamId, words(sequence), { ...placeOf(batch.entry(from)), ...values }),
    );
  }
}

function isComputed({ flags }: EntryBatch, index: number): boolean {
  return ((flags[index] ?? 0) & FLAG.computed) !== 0;
}
