import type { Archive } from '../archive/archive.ts';
import type { Span } from '../claims/span-schema.ts';
import type { CoveringRun } from '../records/coverage.ts';
import { isLedgerKey, LEDGER_PREFIX } from '../records/keys.ts';
import { type GivenUp, GivenUpRuns } from './given-up.ts';
import { type LedgerEntry, readEntry } from './ledger.ts';

/** What all runs so far had of the streams. */
export interface Past {
  /** By stream id; the oldest first. */
  spans: ReadonlyMap<string, readonly Span[]>;
  /** SHA-256 of each run's record, by run id. */
  runs: ReadonlyMap<string, string>;
  /** Ids of the runs that were abandoned. */
  abandoned: ReadonlySet<string>;
  /** Runs that nobody goes on with, by id. */
  givenUp: ReadonlyMap<string, GivenUp>;
  /** Which time and streams each run has; the oldest first. */
  coverage: readonly CoveringRun[];
}

/** What the ledger of an archive says of the past; nothing of it is verified. */
export async function readPast(archive: Archive): Promise<Past> {
  const past = new PastBuilder();
  for await (const { key } of archive.list(LEDGER_PREFIX))
    if (isLedgerKey(key)) past.add((await readEntry(archive, key)).entry);
  return past;
}

/** What runs had of a stream until an acceptance took that away. */
export interface EndedPast {
  streamId: string;
  spans: readonly Span[];
  acceptanceKey: string;
}

/** Takes the entries of a ledger, the oldest first. */
export class PastBuilder implements Past {
  readonly spans = new Map<string, Span[]>();
  readonly runs = new Map<string, string>();
  readonly abandoned = new Set<string>();
  readonly #ends = new GivenUpRuns();
  readonly coverage: CoveringRun[] = [];
  /** The oldest first. */
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
    for (const [streamId, entries] of Object.entries(entry.spans)) {
      const known = this.spans.get(streamId);
      const span: Span = { run_id, period, part: false, entries };
      if (known === undefined) this.spans.set(streamId, [span]);
      else known.push(span);
    }
  }

  /** From an acceptance on, the past of its stream begins with what the accepted run saw, or with nothing. */
  #restart(entry: Extract<LedgerEntry, { acceptance_key: string }>): void {
    const { stream_id: streamId, acceptance_key: acceptanceKey, seen } = entry;
    this.ended.push({ streamId, spans: this.spans.get(streamId) ?? [], acceptanceKey });
    this.spans.delete(streamId);
    if (seen !== null) this.spans.set(streamId, [seen]);
  }
}
