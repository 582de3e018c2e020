// Over 250 lines: here meet the bytes, the decoders and the walks of all streams.

import { Blocks } from '../../core/chunks.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { ElementScanner, type ElementsRead, NoElementsError } from '../../core/json/elements.ts';
import { SpareMemory } from '../../core/spare-memory.ts';
import type { Place } from '../decode/decoder.ts';
import { ReferenceDecoder } from '../decode/reference/decoder.ts';
import { WasmDecoder, type WasmOptions } from '../decode/wasm/decoder.ts';
import { type EntryBatch, isNoted, type SentEntries, statedDigest } from '../model/batch.ts';
import type { Entry, SealKeys } from '../model/entry.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { Checkpoint, Contract, PackageFacts } from '../reading/contract.ts';
import type { DatedQuestion } from './dated.ts';
import { isOf, type Run } from './runs.ts';
import { tryDecoder } from './trial.ts';
import { ChainWalk, type ComparedSection, type WalkResult } from './walk.ts';

export interface PackageReading {
  /** The package's statements about itself; null when it could not be read to its end. */
  facts: PackageFacts | null;
  walk: WalkResult;
  /** The defect of an incomplete stream: the package could not be read, has another shape, or is another one. */
  defect: StreamFinding | null;
  /** Other streams that a package of the account holds, as far as they are kept. */
  others: readonly string[];
}

export interface PackageExpectation {
  /** Known when the package was asked for; otherwise the package's own word is taken. */
  streamId?: string;
  packageId?: string;
  /** Sequence numbers of a stream whose digests are wanted, e.g. of earlier heads. */
  watch?(streamId: string): Iterable<number>;
  /** Returns what earlier readings of a stream saw. Without it, later ones cannot be compared by content. */
  compared?(streamId: string): readonly ComparedSection[];
  /** Returns what is looked for in a stream by the time of its entries. */
  dated?(streamId: string): readonly DatedQuestion[];
  /** Count entries by their action. */
  actions?: boolean;
  /** Sees every entry once it was walked. */
  onEntry?(entry: Pick<Entry, 'sequence' | 'digest' | 'timestamp'>): void;
  /** Sees instead, where it is given, those that follow one another and of which nothing is noted, many at once. */
  onRun?(run: Run): void;
  /** Sees instead, where it is given, those that can be read in one way only and are not of another stream. */
  onSent?(entries: SentEntries): void;
}

/** Entries that were decoded out of turn, by the decoder of `PackageReader.segments` or one like it. */
export interface Segment {
  /** Offsets in the package: of the first entry, and where the decoding ended. */
  start: number;
  end: number;
  /** The place before `end`. */
  place: ElementsRead['place'];
  batch: EntryBatch;
}

/** An entry that stands across the end of a pushed block is for the reference decoder. */
const BLOCK_BYTES = 256 * 1024;

/** The state of each stream of an account is kept until the end; more streams than this are refused. */
const MAX_STREAMS = 100_000;

/** The most other streams that are named, in a package that is read for one. */
const MAX_OTHERS = 1000;

/** Kept for entries that are kept as they were sent. */
const MAX_SPARE = 8;

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
  readonly #others = new Set<string>();
  #failure: EvidenceError | null = null;
  readonly #reference: ReferenceDecoder;
  /** Undefined as long as it is not known whose entries these are; null where the reference decoder is the only one. */
  #fast: WasmDecoder | null | undefined;
  #decoding: WasmOptions | null = null;
  /** The fast decoder is believed once it has answered a question whose answer is known. */
  #isTried = false;
  readonly #spare = new SpareMemory(MAX_SPARE);

  constructor(contract: Contract, keys: SealKeys, expected: PackageExpectation = {}) {
    this.#contract = contract;
    this.#keys = keys;
    this.#expected = expected;
    this.#reference = new ReferenceDecoder(contract, keys);
    this.#scanner = new ElementScanner(contract.entriesPath, {
      onHead: (head) => this.#readHead(head),
      onElement: (bytes) => this.#decodeOne(bytes),
      onElements: (bytes, at) => this.#decodeMany(bytes, at),
    });
    this.#blocks = new Blocks(BLOCK_BYTES, (block) => {
      if (this.#failure === null) this.#guard(() => this.#scanner.push(block));
    });
  }

  /** Forgets the keys: nothing more can be read. */
  [Symbol.dispose](): void {
    this.#fast?.[Symbol.dispose]();
    this.#fast = null;
  }

  push(chunk: Uint8Array): void {
    this.#blocks.push(chunk);
  }

  /** The decoder for segments of this package, and how others like it are made; null until it is known, or for none. */
  get segments(): { decoder: WasmDecoder; options: WasmOptions } | null {
    // The same decoder reads what stands before, and writes over what it has decoded.
    this.#blocks.flush();
    if (this.#decoding === null || this.#fast == null || !this.#isTried) return null;
    return { decoder: this.#fast, options: this.#decoding };
  }

  /**
   * Takes a segment, if one of its entries is the next to be read: decoded here, it would be the same, for that depends
   * on its bytes alone. Then the bytes after its end are to follow.
   */
  splice({ start, end, place, batch }: Segment): boolean {
    this.#blocks.flush();
    const walk = this.#walks.values().next().value;
    if (this.#failure !== null || this.#decoding === null || walk === undefined) return false;
    if (!this.#scanner.awaitsElement(start)) return false;
    this.#fold(walk, batch);
    this.#scanner.skipTo(end, place);
    return true;
  }

  /** Reads an entry of a segment. */
  readWhole(bytes: Uint8Array): Entry {
    return this.#reference.read(bytes);
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
    const defect = this.#defect(streamId) ?? this.#foreign(streamId, own);
    return { facts: own, walk, defect, others: [...this.#others] };
  }

  #readHead(head: Json): void {
    try {
      this.#head = this.#contract.readPackageHead(head);
    } catch {
      // `finish` reads the whole of it and reports.
    }
  }

  #decodeOne(bytes: Uint8Array): void {
    const { batch } = this.#reference.decode(bytes, 0, 'next');
    if (batch === null) return;
    const stream = batch.streams?.[0] ?? null;
    // This reader may be after one stream of a package that was to hold the whole account.
    const { streamId } = this.#expected;
    if (this.#contract.scope === 'account' && streamId !== undefined && stream !== streamId) {
      if (stream !== null && this.#others.size < MAX_OTHERS) this.#others.add(stream);
      return;
    }
    this.#fold(this.#walkOf(stream), batch);
  }

  #decodeMany(bytes: Uint8Array, start: number): ElementsRead {
    if (this.#fast === undefined) this.#fast = this.#openFast();
    const walk = this.#walks.values().next().value;
    let [at, place, any]: [number, Place, boolean] = [start, 'next', false];
    while (walk !== undefined && this.#fast != null) {
      const decoded = this.#fast.decode(bytes, at, place);
      if (decoded.batch !== null && !this.#isTried) {
        if (this.#tryFast(this.#fast, decoded.batch.sent(0))) continue;
        break;
      }
      ({ end: at, place } = decoded);
      if (decoded.batch === null) break;
      this.#fold(walk, decoded.batch);
      any = true;
    }
    return { any, end: at, place: place === 'after' ? 'after' : 'next' };
  }

  /**
   * Tries the fast decoder, which writes over what it has decoded. One that fails is not used: the reference decoder
   * reads the package. Returns true if it is believed from now on.
   */
  #tryFast(decoder: WasmDecoder, entry: Uint8Array): boolean {
    if (this.#decoding === null) return false;
    const wrong = tryDecoder(decoder, this.#reference, this.#decoding.program, entry);
    if (wrong === null) return false;
    this.#isTried = wrong.length === 0;
    if (this.#isTried) return true;
    this[Symbol.dispose]();
    return false;
  }

  #fold(walk: ChainWalk, batch: EntryBatch): void {
    const { onEntry, onRun, onSent } = this.#expected;
    const isSeen = onEntry !== undefined || onRun !== undefined || onSent !== undefined;
    walk.push(batch, isSeen ? (run) => this.#show(walk, run) : undefined);
  }

  #show(walk: ChainWalk, run: Run): void {
    const { onEntry, onRun, onSent } = this.#expected;
    const { batch, from, to } = run;
    const noted = isNoted(batch, from) ? batch.entry(from) : null;
    const isOneWay = noted?.content.state !== 'ambiguous' && isOf(walk.streamId, batch.streams?.[from] ?? null);
    if (onSent !== undefined && isOneWay) onSent(batch.keep(from, to, this.#spare));
    else if (onRun !== undefined && noted === null) onRun(run);
    else if (onEntry !== undefined)
      for (let index = from; index < to; index++)
        onEntry({
          sequence: batch.sequences[index] ?? 0,
          digest: statedDigest(batch, index),
          timestamp: batch.timestamp(index),
        });
  }

  #openFast(): WasmDecoder | null | undefined {
    const { program, entriesPath, scope } = this.#contract;
    if (program === null || scope === 'account' || this.#head?.scope === 'account') return null;
    const known = this.#walks.values().next().value;
    const streamId = known?.streamId ?? this.#expected.streamId ?? this.#head?.streamId ?? null;
    if (streamId === null) return undefined;
    if (known === undefined) this.#walks.set(streamId, this.#startWalk(streamId));
    const options: WasmOptions = { program, streamId, keys: this.#keys, depth: entriesPath.length + 1 };
    const decoder = WasmDecoder.open(options, (bytes) => this.readWhole(bytes));
    if (decoder !== null) this.#decoding = options;
    return decoder;
  }

  /** @param stream of an entry, as it says. */
  #walkOf(stream: string | null): ChainWalk {
    const scope = this.#head?.scope ?? this.#contract.scope;
    const ofAccount = scope === 'account' && this.#expected.streamId === undefined;
    const ownStream = ofAccount ? stream : null;
    const known = ownStream === null ? this.#walks.values().next().value : this.#walks.get(ownStream);
    if (known !== undefined) return known;
    if (this.#walks.size === MAX_STREAMS)
      throw new EvidenceError('unreadable', `the package holds more than ${MAX_STREAMS} streams`);
    const walk = this.#startWalk(ownStream ?? this.#streamId(this.#head, stream ?? ''));
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
    return new ChainWalk(streamId, this.#contract, this.#keys, {
      watch,
      compared,
      dated,
      actions: this.#expected.actions === true,
    });
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
    const unreadable = this.#failure instanceof NoElementsError ? 'package/no-entries' : 'package/unreadable';
    return toStreamFinding(
      drifted ? 'contract/drift' : unreadable,
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

/**
 * Returns the checkpoints of a stream; in the package of an account, those that name no stream could be any stream's.
 */
function checkpointsOf({ scope, checkpoints }: PackageFacts, streamId: string): Checkpoint[] {
  return scope === 'stream' ? checkpoints : checkpoints.filter((checkpoint) => checkpoint.streamId === streamId);
}

/**
 * The reading of a package of which only a part arrived: what was found stands, nothing in it is the package's word.
 */
export function asPart(reading: PackageReading, reason: string): PackageReading {
  const message = `the JSON form is not whole: ${reason}`;
  return { ...reading, facts: null, defect: toStreamFinding('package/unreadable', reading.walk.streamId, message) };
}
