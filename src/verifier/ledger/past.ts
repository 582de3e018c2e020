import type { RowMap } from '../../core/rows/map.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import type { Span } from '../claims/schemas.ts';
import type { CoveringRun } from '../records/coverage.ts';
import { isLedgerKey, LEDGER_PREFIX } from '../records/keys.ts';
import { type GivenUp, GivenUpRuns } from './given-up.ts';
import { type LedgerEntry, readEntry } from './ledger.ts';

/** Spans of each stream by its id, oldest first. */
interface StreamSpans extends Iterable<[streamId: string, spans: readonly Span[]]> {
  get(streamId: string): readonly Span[] | undefined;
}

/** Entries that all runs so far had of the streams. */
export interface Past {
  /** Keyed by stream id; oldest first. */
  spans: StreamSpans;
  /** SHA-256 of each run's record, by run id. */
  runs: ReadonlyMap<string, string>;
  /** Ids of abandoned runs. */
  abandoned: ReadonlySet<string>;
  /** Runs that were given up, by id. */
  givenUp: ReadonlyMap<string, GivenUp>;
  /** Period and streams of each run, oldest first. */
  coverage: readonly CoveringRun[];
}

/** Reads the past from the ledger of an archive, without verifying it. */
export async function readPast(archive: ReadableArchive): Promise<Past> {
  const past = new PastBuilder();
  for await (const { key } of archive.list(LEDGER_PREFIX))
    if (isLedgerKey(key)) past.add((await readEntry(archive, key)).entry);
  return past;
}

/** Past of a stream up to an acceptance. */
interface EndedPast {
  streamId: string;
  spans: readonly Span[];
  acceptanceKey: string;
}

/** Builds the past from the entries of a ledger, oldest first. */
export class PastBuilder implements Past {
  readonly spans = new SpansOfRuns();
  readonly runs = new Map<string, string>();
  readonly abandoned = new Set<string>();
  readonly #ends = new GivenUpRuns();
  readonly coverage: CoveringRun[] = [];
  /** Oldest first. */
  readonly ended: EndedPast[] = [];

  get givenUp(): ReadonlyMap<string, GivenUp> {
    return this.#ends.runs;
  }

  add(entry: LedgerEntry): void {
    this.#ends.add(entry);
    if ('abandons' in entry) this.abandoned.add(entry.abandons);
    if ('acceptance_key' in entry) this.#restart(entry);
    if (!('run_id' in entry)) return;
    const { run_id, run_sha256, package_period: period } = entry;
    this.runs.set(run_id, run_sha256);
    this.coverage.push({ run_id, ...entry.coverage });
    this.spans.add({ run_id, period, spans: entry.spans });
  }

  /** Restarts the past of an acceptance's stream with the entries that the accepted run saw, or with none. */
  #restart(entry: Extract<LedgerEntry, { acceptance_key: string }>): void {
    const { stream_id: streamId, acceptance_key: acceptanceKey, seen } = entry;
    this.ended.push({ streamId, spans: this.spans.get(streamId) ?? [], acceptanceKey });
    this.spans.restart(streamId, seen);
  }
}

/** Entries that one run had of the streams. */
interface RunSpans extends Pick<Span, 'run_id' | 'period'> {
  spans: RowMap<Span['entries']>;
}

class SpansOfRuns implements StreamSpans {
  readonly #runs: RunSpans[] = [];
  /** Number of runs before a stream's newest restart, and the first span after it, by stream id. */
  readonly #restarts = new Map<string, { runs: number; seen: Span | null }>();

  add(run: RunSpans): void {
    this.#runs.push(run);
  }

  restart(streamId: string, seen: Span | null): void {
    this.#restarts.set(streamId, { runs: this.#runs.length, seen });
  }

  get(streamId: string): readonly Span[] | undefined {
    const { runs, seen } = this.#restarts.get(streamId) ?? { runs: 0, seen: null };
    const spans = this.#runs.slice(runs).flatMap(({ run_id, period, spans }): Span[] => {
      const entries = spans.get(streamId);
      return entries === undefined ? [] : [{ run_id, period, part: false, entries }];
    });
    const all = seen === null ? spans : [seen, ...spans];
    return all.length === 0 ? undefined : all;
  }

  *[Symbol.iterator](): Iterator<[streamId: string, spans: readonly Span[]]> {
    const ids = new Set(this.#restarts.keys());
    for (const { spans } of this.#runs) for (const [streamId] of spans) ids.add(streamId);
    for (const streamId of ids) {
      const spans = this.get(streamId);
      if (spans !== undefined) yield [streamId, spans];
    }
  }
}
