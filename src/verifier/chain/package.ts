// Over 250 lines: connects the bytes, the decoders and the walks of all streams.

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
  /** Statements of the package about itself; null if it could not be read to its end. */
  facts: PackageFacts | null;
  walk: WalkResult;
  /** Finding that makes the stream incomplete: the package is unreadable, has another shape or is the wrong one. */
  defect: StreamFinding | null;
  /** Other streams of an account's package, up to `MAX_OTHERS`. */
  others: readonly string[];
}

export interface PackageExpectation {
  /** Stream that was requested; if absent, the package's own statement is used. */
  streamId?: string;
  packageId?: string;
  /** Returns the sequence numbers whose digests are wanted, e.g. of earlier heads. */
  watch?(streamId: string): Iterable<number>;
  /**
   * Returns the sections that earlier readings of a stream saw. If absent, later readings cannot be compared by
   * content.
   */
  compared?(streamId: string): readonly ComparedSection[];
  /** Returns the questions about a stream's entries by time. */
  dated?(streamId: string): readonly DatedQuestion[];
  /** True to count entries by action. */
  actions?: boolean;
  /** Receives every entry after it was walked. */
  onEntry?(entry: Pick<Entry, 'sequence' | 'digest' | 'timestamp'>): void;
  /** Receives whole runs of entries without notes instead of `onEntry`. */
  onRun?(run: Run): void;
  /** Receives entries of this stream that can be read in one way only, instead of `onRun` and `onEntry`. */
  onSent?(entries: SentEntries): void;
}

/** Entries decoded out of order, by the decoder of `PackageReader.segments` or an equal one. */
export interface Segment {
  /** Offsets in the package: of the first entry, and of the end of the decoded bytes. */
  start: number;
  end: number;
  /** Place of the scanner at `end`. */
  place: ElementsRead['place'];
  batch: EntryBatch;
}

/** Size of the blocks given to the scanner. An entry that crosses the end of a block goes to the reference decoder. */
const BLOCK_BYTES = 256 * 1024;

/** Maximum number of streams in an account's package, because the state of each is kept until the end. */
const MAX_STREAMS = 100_000;

/** Maximum number of other streams reported for a package that is read for one stream. */
const MAX_OTHERS = 1000;

/** Maximum number of spare buffers for entries kept as sent. */
const MAX_SPARE = 8;

/**
 * Reads the JSON form of a package as its bytes arrive, and walks its chain. Memory is bounded by the largest entry.
 * Never throws because of the bytes: defects are part of the result. Holds the seal keys until disposed.
 */
export class PackageReader implements Disposable {
  readonly #contract: Contract;
  readonly #keys: SealKeys;
  readonly #expected: PackageExpectation;
  readonly #scanner: ElementScanner;
  readonly #blocks: Blocks;
  #head: PackageFacts | null = null;
  /** Walks by stream id. A package of one stream has one walk, whatever stream its entries state. */
  readonly #walks = new Map<string, ChainWalk>();
  readonly #others = new Set<string>();
  #failure: EvidenceError | null = null;
  readonly #reference: ReferenceDecoder;
  /** Undefined until the stream is known; null if only the reference decoder is used. */
  #fast: WasmDecoder | null | undefined;
  #decoding: WasmOptions | null = null;
  /** True once the fast decoder has answered a question whose answer is known. */
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

  /** Forgets the keys; nothing more can be read. */
  [Symbol.dispose](): void {
    this.#fast?.[Symbol.dispose]();
    this.#fast = null;
  }

  push(chunk: Uint8Array): void {
    this.#blocks.push(chunk);
  }

  /**
   * Decoder for segments of this package, and the options for making others like it; null if not known yet or not used.
   */
  get segments(): { decoder: WasmDecoder; options: WasmOptions } | null {
    // Pending input is read by the same decoder and overwrites its columns, so read it first.
    this.#blocks.flush();
    if (this.#decoding === null || this.#fast == null || !this.#isTried) return null;
    return { decoder: this.#fast, options: this.#decoding };
  }

  /**
   * Takes a segment that begins at the next entry to be read; returns false if it begins elsewhere. The result is the
   * same as decoding here, because decoding depends on the bytes alone. The caller continues with the bytes after
   * `end`.
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

  /** Reads one entry of a segment in full. */
  readWhole(bytes: Uint8Array): Entry {
    return this.#reference.read(bytes);
  }

  /** Ends a package of one stream and returns its reading; call once. */
  finish(): PackageReading {
    const facts = this.#endDocument();
    const walk = this.#walks.values().next().value ?? this.#startWalk(this.#streamId(facts ?? this.#head, ''));
    return this.#toReading(facts, walk.finish());
  }

  /**
   * Ends a package that may hold the whole account and returns a reading per stream; call once.
   * @param asked streams that get a reading even if the package has no entries of them.
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
            `outside its entries, the number ${inexactInteger} changes when it is read`,
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
      // `finish` reads the whole document and reports the error.
    }
  }

  #decodeOne(bytes: Uint8Array): void {
    const { batch } = this.#reference.decode(bytes, 0, 'next');
    if (batch === null) return;
    const stream = batch.streams?.[0] ?? null;
    // The caller may want one stream of a package that holds the whole account.
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
   * Tries the fast decoder, which overwrites its columns. A decoder that fails is dropped, and the reference decoder
   * reads the package. Returns true once the decoder has passed; an entry that is too large for the trial decides
   * nothing.
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

  /** @param stream as stated by the entry. */
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
      return toStreamFinding('package/foreign', streamId, 'a package other than the requested one was delivered', {
        expected: packageId,
        actual: facts.packageId,
      });
    return null;
  }
}

/**
 * Returns the checkpoints of a stream. In an account's package, checkpoints that state no stream are left out, because
 * they could belong to any.
 */
function checkpointsOf({ scope, checkpoints }: PackageFacts, streamId: string): Checkpoint[] {
  return scope === 'stream' ? checkpoints : checkpoints.filter((checkpoint) => checkpoint.streamId === streamId);
}

/** Returns the reading of a package that arrived only in part: its findings stand, its statements are dropped. */
export function asPart(reading: PackageReading, reason: string): PackageReading {
  const message = `the JSON form is not whole: ${reason}`;
  return { ...reading, facts: null, defect: toStreamFinding('package/unreadable', reading.walk.streamId, message) };
}
