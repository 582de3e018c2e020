import type { Contract, Entry, PackageFacts } from '../contract/contract.ts';
import type { Json } from '../encoding/canonical.ts';
import { ElementScanner } from '../encoding/elements.ts';
import { EvidenceError, isEvidenceError } from '../errors.ts';
import { type Finding, toFinding } from './finding.ts';
import { ChainWalk, type SealKeys, type WalkResult } from './walk.ts';

export interface PackageReading {
  /** What the package says about itself; null when it could not be read to its end. */
  facts: PackageFacts | null;
  walk: WalkResult;
  /** Why the stream is incomplete: the package could not be read, has another shape, or is another one. */
  defect: Finding | null;
}

export interface PackageExpectation {
  /** Known when the package was asked for; otherwise the package's own word is taken. */
  streamId?: string;
  packageId?: string;
  /** Sequence numbers whose digests are wanted, e.g. of earlier heads. */
  watch?: Iterable<number>;
  /** Sees every entry once it was walked. */
  onEntry?(entry: Entry): void;
}

/**
 * Reads the JSON form of one stream's package while its bytes arrive and walks its chain, in memory bounded by the
 * largest entry. Never throws for what the bytes hold: that is the result.
 */
export class PackageReader {
  readonly #contract: Contract;
  readonly #keys: SealKeys;
  readonly #expected: PackageExpectation;
  readonly #scanner: ElementScanner;
  #head: PackageFacts | null = null;
  #walk: ChainWalk | null = null;
  #failure: EvidenceError | null = null;

  constructor(contract: Contract, keys: SealKeys, expected: PackageExpectation = {}) {
    this.#contract = contract;
    this.#keys = keys;
    this.#expected = expected;
    this.#scanner = new ElementScanner(contract.entriesMember, {
      onHead: (head) => this.#readHead(head),
      onElement: (bytes, members) => this.#readEntry(bytes, members),
    });
  }

  push(chunk: Uint8Array): void {
    if (this.#failure === null) this.#guard(() => this.#scanner.push(chunk));
  }

  /** Ends the package; call once. */
  finish(): PackageReading {
    let facts: PackageFacts | null = null;
    if (this.#failure === null)
      this.#guard(() => {
        const { value, ambiguity } = this.#scanner.finish();
        if (ambiguity !== null) throw new EvidenceError('unreadable', `outside its entries, ${ambiguity}`);
        facts = this.#contract.readPackage(value);
      });
    const walk = (this.#walk ?? this.#startWalk(this.#streamId(facts, ''))).finish();
    return { facts, walk, defect: this.#defect(walk.streamId) ?? this.#foreign(walk.streamId, facts) };
  }

  #readHead(head: Json): void {
    try {
      this.#head = this.#contract.readPackage(head);
    } catch {
      // `finish` reads the whole of it and reports.
    }
  }

  #readEntry(bytes: Uint8Array, members: number): void {
    const entry = this.#contract.readEntry(bytes, members);
    this.#walk ??= this.#startWalk(this.#streamId(this.#head, entry.streamId));
    this.#walk.push(entry);
    this.#expected.onEntry?.(entry);
  }

  #startWalk(streamId: string): ChainWalk {
    const anchored = this.#head?.checkpoints.map((checkpoint) => checkpoint.sequence) ?? [];
    const watch = [...(this.#expected.watch ?? []), ...anchored];
    return new ChainWalk(streamId, this.#contract, this.#keys, watch);
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

  #defect(streamId: string): Finding | null {
    if (this.#failure === null) return null;
    const drifted = this.#failure.code === 'contract';
    return toFinding(
      drifted ? 'contract/drift' : 'package/unreadable',
      streamId,
      `the package cannot be read as ${drifted ? `the contract "${this.#contract.name}" says` : 'JSON'}: ${this.#failure.message}`,
    );
  }

  #foreign(streamId: string, facts: PackageFacts | null): Finding | null {
    const { packageId } = this.#expected;
    if (facts === null) return null;
    if (facts.streamId !== null && facts.streamId !== streamId)
      return toFinding('package/foreign', streamId, 'the package of another stream was delivered', {
        expected: streamId,
        actual: facts.streamId,
      });
    if (packageId !== undefined && facts.packageId !== null && facts.packageId !== packageId)
      return toFinding('package/foreign', streamId, 'another package was delivered than the one asked for', {
        expected: packageId,
        actual: facts.packageId,
      });
    return null;
  }
}

/** The reading of a package of which only a part arrived: what was found stands, nothing in it is the package's word. */
export function asPart(reading: PackageReading, reason: string): PackageReading {
  const message = `the JSON form is not whole: ${reason}`;
  return { ...reading, facts: null, defect: toFinding('package/unreadable', reading.walk.streamId, message) };
}
