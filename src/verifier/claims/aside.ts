import type { FindingLog } from '../model/finding-log.ts';
import { type FindingPlace, type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { ListedEntry } from './packaged.ts';

export interface ListingFinding extends Omit<FindingPlace, 'entryId'> {
  message: string;
}

/** Maximum number of entries kept aside for their counterpart; beyond it, they are reported as having none. */
const MAX_ASIDE = 10_000;

/**
 * Entries of one side whose counterpart did not arrive when due. It may arrive later if either side is out of order,
 * which is not for this comparison to judge.
 */
export class Aside {
  readonly #streamId: string;
  readonly #log: FindingLog;
  readonly #packaged = new Map<string, ListedEntry>();
  readonly #listed = new Map<string, ListedEntry>();

  constructor(streamId: string, log: FindingLog) {
    this.#streamId = streamId;
    this.#log = log;
  }

  /** @returns the number of pairs completed. */
  add(packaged: ListedEntry | null, listed: ListedEntry | null): number {
    let completed = 0;
    if (packaged !== null) completed += this.#put(packaged, this.#packaged, this.#listed);
    if (listed !== null) completed += this.#put(listed, this.#listed, this.#packaged);
    if (this.#packaged.size + this.#listed.size > MAX_ASIDE) this.tell();
    return completed;
  }

  #put(entry: ListedEntry, own: Map<string, ListedEntry>, others: Map<string, ListedEntry>): number {
    const key = `${entry.sequence} ${entry.digest}`;
    if (others.delete(key)) return 1;
    // The same entry twice on one side: the first has no counterpart left to wait for.
    if (own.has(key)) this.tell();
    own.set(key, entry);
    return 0;
  }

  /** Reports the entries without a counterpart, by place in the stream. */
  tell(): void {
    const listed = Map.groupBy(this.#listed.values(), ({ sequence }) => sequence);
    const packaged = Map.groupBy(this.#packaged.values(), ({ sequence }) => sequence);
    const sequences = [...new Set([...listed.keys(), ...packaged.keys()])].sort((a, b) => a - b);
    for (const sequence of sequences) this.#alertOf(sequence, packaged.get(sequence) ?? [], listed.get(sequence) ?? []);
    this.#listed.clear();
    this.#packaged.clear();
  }

  #alertOf(sequence: number, packaged: readonly ListedEntry[], listed: readonly ListedEntry[]): void {
    for (let at = 0; at < Math.max(packaged.length, listed.length); at++) {
      const [actual, expected] = [packaged[at]?.digest, listed[at]?.digest];
      const what =
        expected === undefined
          ? 'is in the package, but the service does not list it'
          : actual === undefined
            ? 'is listed by the service, but it is not in the package'
            : 'is listed with another digest';
      this.#log.add(
        toStreamFinding('completeness/listing-differs', this.#streamId, `entry ${sequence} ${what}`, {
          sequence,
          expected,
          actual,
        }),
      );
    }
  }
}

export function toListingFinding(finding: StreamFinding): ListingFinding {
  const { code: _code, severity: _severity, stream_id: _id, ...place } = finding;
  return place;
}
