// Over 250 lines: here meet the bytes, the decoder, what it leaves to the reader, and the walks of all streams.

import { Blocks } from '../../core/chunks.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { ElementScanner, type ElementsRead } from '../../core/json/elements.ts';
import type { Entry, SealKeys } from '../model/entry.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { Checkpoint, Contract, PackageFacts } from '../reading/contract.ts';
import type { DatedQuestion } from './dated.ts';
import type { RegularEntries } from './regular.ts';
import { type Fill, openKernel, RegularReader } from './regular-reader.ts';
import { type SentEntries, sentEntry } from './sent.ts';
import { entriesOf, isNextOf, type Stretch, type StretchOptions } from './stretch.ts';
import { ChainWalk, type ComparedSection, type WalkResult } from './walk.ts';

export interface PackageReading {
  /** What the package says about itself; null when it could not be read to its end. */
  facts: PackageFacts | null;
  walk: WalkResult;
  /** Why the stream is incomplete: the package could not be read, has another shape, or is another one. */
  defect: StreamFinding | null;
}

export interface PackageExpectation {
  /** Known when the package was asked for; otherwise the package's own word is taken. */
  streamId?: string;
  packageId?: string;
  /** Sequence numbers of a stream whose digests are wanted, e.g. of earlier heads. */
  watch?(streamId: string): Iterable<number>;
  /** What earlier readings of a stream saw, to be compared with; without it, later ones cannot be compared by content. */
  compared?(streamId: string): readonly ComparedSection[];
  /** What is looked for in a stream by the time of its entries. */
  dated?(streamId: string): readonly DatedQuestion[];
  /** Sees every entry once it was walked. */
  onEntry?(entry: Pick<Entry, 'sequence' | 'digest' | 'timestamp'>): void;
  /** Sees instead, where it is given, those that a kernel found regular, many at once. */
  onRegular?(entries: RegularEntries): void;
  /** Sees instead, where it is given, those that can be read in one way only and are not of another stream. */
  onSent?(entries: SentEntries): void;
}

/** An entry that stands across the end of a pushed block is read the slow way. */
const BLOCK_BYTES = 256 * 1024;

/** The state of each stream of an account is kept until the end; more streams than this are refused. */
const MAX_STREAMS = 100_000;

/**
 * Reads the JSON form of one stream's package while its bytes arrive and walks its chain, in memory bounded by the
 * largest entry. Never throws for what the bytes hold: that is the result. It may hold keys until it is disposed of.
 */
export class PackageReader implements Disposable {
  readonly #contract: Contract;
  readonly #keys: SealKeys;
  readonly #expected: PackageExpectation;
  readonly #scanner: ElementScanner;
  readonly #blocks: Blocks;
  #head: PackageFacts | null = null;
  /** By stream id; a package of one stream has one, whatever its entries claim to belong to. */
  readonly #walks = new Map<string, ChainWalk>();
  #failure: EvidenceError | null = null;
  /** Undefined as long as it is not known whose entries these are; null where there is none. */
  #regular: RegularReader | null | undefined;
  #stretches: StretchOptions | null = null;

  constructor(contract: Contract, keys: SealKeys, expected: PackageExpectation = {}) {
    this.#contract = contract;
    this.#keys = keys;
    this.#expected = expected;
    this.#scanner = new ElementScanner(contract.entriesPath, {
      onHead: (head) => this.#readHead(head),
      onElement: (bytes, members) => this.#readEntry(bytes, members),
      onElements: (bytes, at) => this.#readRegular(bytes, at),
    });
    this.#blocks = new Blocks(BLOCK_BYTES, (block) => {
      if (this.#failure === null) this.#guard(() => this.#scanner.push(block));
    });
  }

  /** Forgets the keys: nothing more can be read. */
  [Symbol.dispose](): void {
    this.#regular?.[Symbol.dispose]();
    this.#regular = null;
  }

  push(chunk: Uint8Array): void {
    this.#blocks.push(chunk);
  }

  /**
   * Reads on, from where the bytes come, for as long as entries are regular: as with `push`, but that nothing is copied.
   * @returns how many bytes were read, and whether the next ones could be regular too, once there are more; where not,
   *   they are to be pushed.
   */
  pull(fill: Fill): { bytes: number; isOpen: boolean } {
    this.#blocks.flush();
    const { offset } = this.#scanner;
    let isOpen = false;
    if (this.#failure === null && this.#scanner.isAmongElements)
      this.#guard(() => {
        const begin = (bytes: Uint8Array) => this.#scanner.endElement(bytes);
        const pulled = this.#regular?.pull(fill, begin, (entries, sent) => this.#seeRegular(entries, sent));
        if (pulled == null) return;
        this.#scanner.skipTo(offset + pulled.end, pulled.place);
        isOpen = pulled.isOpen;
      });
    return { bytes: this.#scanner.offset - offset, isOpen };
  }

  /** What has to be known to read stretches of this package elsewhere; null until it is, or where none can be taken. */
  findStretches(): StretchOptions | null {
    if (this.#stretches === null) this.#blocks.flush();
    return this.#expected.onEntry === undefined ? this.#stretches : null;
  }

  /**
   * Takes a stretch that was read elsewhere, if it is known to be what would have been read here; then the bytes behind
   * its end are to follow.
   */
  take(stretch: Stretch): boolean {
    this.#blocks.flush();
    const walk = this.#walks.values().next().value;
    if (this.#failure !== null || this.findStretches() === null || walk === undefined) return false;
    if (!this.#scanner.awaitsElement(stretch.start) || !isNextOf(walk, stretch)) return false;
    walk.pushRegular(entriesOf(stretch));
    this.#scanner.skipTo(stretch.end, stretch.place);
    return true;
  }

  /** Ends a package of one stream; call once. */
  finish(): PackageReading {
    const facts = this.#endDocument();
    const walk = this.#walks.values().next().value ?? this.#startWalk(this.#streamId(facts ?? this.#head, ''));
    return this.#toReading(facts, walk.finish());
  }

  /**
   * Ends a package that may hold the whole account: a reading for each of its streams; call once.
   * @param asked streams that have a reading even if the package holds nothing of them.
   */
  finishEach(asked: Iterable<string> = []): PackageReading[] {
    const facts = this.#endDocument();
    const walks = [...this.#walks.values()];
    for (const streamId of asked) if (!this.#walks.has(streamId)) walks.push(this.#startWalk(streamId));
    if (walks.length === 0) walks.push(this.#startWalk(this.#streamId(facts ?? this.#head, '')));
    return walks.map((walk) => this.#toReading(facts, walk.finish()));
  }

  #endDocument(): PackageFacts | null {
    this.#blocks.flush();
    this[Symbol.dispose]();
    let facts: PackageFacts | null = null;
    if (this.#failure === null)
      this.#guard(() => {
        const { value, ambiguity, inexactInteger } = this.#scanner.finish();
        if (inexactInteger !== null)
          throw new EvidenceError(
            'unreadable',
            `outside its entries, the number ${inexactInteger} is another one when it is read`,
          );
        if (ambiguity !== null) throw new EvidenceError('unreadable', `outside its entries, ${ambiguity}`);
        facts = this.#contract.readPackage(value);
      });
    return facts;
  }

  #toReading(facts: PackageFacts | null, walk: WalkResult): PackageReading {
    const { streamId } = walk;
    const own =
      facts?.scope === 'account' ? { ...facts, streamId, checkpoints: checkpointsOf(facts, streamId) } : facts;
    return { facts: own, walk, defect: this.#defect(streamId) ?? this.#foreign(streamId, own) };
  }

  #readHead(head: Json): void {
    try {
      this.#head = this.#contract.readPackageHead(head);
    } catch {
      // `finish` reads the whole of it and reports.
    }
  }

  #readEntry(bytes: Uint8Array, members: number): void {
    const entry = this.#contract.readEntry(bytes, members, this.#keys);
    // Of a package that was to hold the whole account, this reader may be after one stream only.
    const { streamId } = this.#expected;
    if (this.#contract.scope === 'account' && streamId !== undefined && entry.streamId !== streamId) return;
    this.#walkOf(entry).push(entry, bytes);
    const { onEntry, onSent } = this.#expected;
    const isOurs = entry.streamId === null || entry.streamId === streamId;
    if (onSent !== undefined && isOurs && entry.content.state !== 'ambiguous') onSent(sentEntry(entry, bytes));
    else onEntry?.(entry);
  }

  #readRegular(bytes: Uint8Array, at: number): ElementsRead {
    if (this.#regular === undefined) this.#regular = this.#openRegular();
    const read = this.#regular?.read(bytes, at, (entries, sent) => this.#seeRegular(entries, sent));
    return read ?? { any: false, end: at, place: 'next' };
  }

  #seeRegular(entries: RegularEntries, sent: () => SentEntries): void {
    const { onEntry, onRegular, onSent } = this.#expected;
    if (onSent !== undefined) onSent(sent());
    else if (onRegular !== undefined) onRegular(entries);
    else if (onEntry !== undefined)
      for (let { firstSequence: sequence } = entries; sequence <= entries.tip.sequence; sequence++)
        onEntry({ sequence, digest: '', timestamp: '', ...entries.find(sequence) });
  }

  #openRegular(): RegularReader | null | undefined {
    const { plainKind: kind, firstSequence, entriesPath, scope } = this.#contract;
    if (kind === null || scope === 'account' || this.#head?.scope === 'account') return null;
    const streamId = this.#expected.streamId ?? this.#head?.streamId ?? null;
    let walk = this.#walks.values().next().value;
    if (walk === undefined && streamId === null) return undefined;
    if (walk === undefined) {
      walk = this.#startWalk(streamId ?? '');
      this.#walks.set(walk.streamId, walk);
    }
    if (walk.tip === null) return undefined;
    const depth = entriesPath.length + 1;
    const options = { streamId: walk.streamId, kind, firstSequence, keys: this.#keys, depth };
    const kernel = openKernel(options);
    if (kernel === null) return null;
    this.#stretches = { ...options, watch: walk.watch, dated: walk.dated, uncovered: walk.uncovered };
    return new RegularReader(kernel, walk);
  }

  #walkOf(entry: Entry): ChainWalk {
    const scope = this.#head?.scope ?? this.#contract.scope;
    const ofAccount = scope === 'account' && this.#expected.streamId === undefined;
    const ownStream = ofAccount ? entry.streamId : null;
    const known = ownStream === null ? this.#walks.values().next().value : this.#walks.get(ownStream);
    if (known !== undefined) return known;
    if (this.#walks.size === MAX_STREAMS)
      throw new EvidenceError('unreadable', `the package holds more than ${MAX_STREAMS} streams`);
    const walk = this.#startWalk(ownStream ?? this.#streamId(this.#head, entry.streamId ?? ''));
    this.#walks.set(walk.streamId, walk);
    return walk;
  }

  #startWalk(streamId: string): ChainWalk {
    const checkpoints = this.#head === null ? [] : checkpointsOf(this.#head, streamId);
    const watch = [
      ...(this.#expected.watch?.(streamId) ?? []),
      ...checkpoints.map((checkpoint) => checkpoint.sequence),
    ];
    const compared = this.#expected.compared?.(streamId) ?? null;
    const dated = this.#expected.dated?.(streamId) ?? [];
    return new ChainWalk(streamId, this.#contract, this.#keys, { watch, compared, dated });
  }

  #streamId(facts: PackageFacts | null, otherwise: string): string {
    return this.#expected.streamId ?? facts?.streamId ?? otherwise;
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!isEvidenceError(error)) throw error;
      this.#failure = error;
    }
  }

  #defect(streamId: string): StreamFinding | null {
    if (this.#failure === null) return null;
    const drifted = this.#failure.code === 'contract';
    return toStreamFinding(
      drifted ? 'contract/drift' : 'package/unreadable',
      streamId,
      `the package cannot be read as ${drifted ? `the contract "${this.#contract.name}" says` : 'JSON'}: ${this.#failure.message}`,
    );
  }

  #foreign(streamId: string, facts: PackageFacts | null): StreamFinding | null {
    const { packageId } = this.#expected;
    if (facts === null) return null;
    if (facts.streamId !== null && facts.streamId !== streamId)
      return toStreamFinding('package/foreign', streamId, 'the package of another stream was delivered', {
        expected: streamId,
        actual: facts.streamId,
      });
    if (packageId !== undefined && facts.packageId !== null && facts.packageId !== packageId)
      return toStreamFinding('package/foreign', streamId, 'another package was delivered than the one asked for', {
        expected: packageId,
        actual: facts.packageId,
      });
    return null;
  }
}

/** Of the package of an account, those that do not say whose they are could be any stream's. */
function checkpointsOf({ scope, checkpoints }: PackageFacts, streamId: string): Checkpoint[] {
  return scope === 'stream' ? checkpoints : checkpoints.filter((checkpoint) => checkpoint.streamId === streamId);
}

/** The reading of a package of which only a part arrived: what was found stands, nothing in it is the package's word. */
export function asPart(reading: PackageReading, reason: string): PackageReading {
  const message = `the JSON form is not whole: ${reason}`;
  return { ...reading, facts: null, defect: toStreamFinding('package/unreadable', reading.walk.streamId, message) };
}
