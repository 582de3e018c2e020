import type { ComparedSection, WalkResult } from '../chain/walk.ts';
import { entriesIn } from '../claims/continuity-question.ts';
import { findGaps, placeIn } from '../claims/gaps.ts';
import { digestAt } from '../claims/overlap.ts';
import { comparedWith } from '../claims/past.ts';
import type { Span, StreamPast } from '../claims/schemas.ts';
import { isPlaced } from '../claims/span.ts';
import type { Verdict } from '../claims/verdict.ts';
import type { LedgerEntry } from '../ledger/ledger.ts';
import { PastBuilder } from '../ledger/past.ts';
import { runRecordKey } from '../records/keys.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';

/** Fact about a stream that a run stated: the digest of an entry, or the content of a section. */
interface Fact {
  runId: string;
  value: string;
}

/** Run that was verified. */
interface Verified {
  runId: string;
  streams: readonly { verdict: Pick<Verdict, 'findings'> }[];
}

/** Entries of a stream in another run, next to those of a given run. */
export interface Neighbour {
  runId: string;
  first: number;
  last: number;
  /** Digest of the last entry. */
  hash: string;
  /** True if the other run comes later in the ledger. */
  isLater: boolean;
  /** True if the ledger records the run; it records no run that contradicts others. */
  isInLedger: boolean;
}

/** Entries that all runs had of one stream, up to an accepted restart. */
interface Era {
  streamId: string;
  /** Oldest first. */
  spans: readonly Span[];
  facts: Map<string, Fact>;
}

/**
 * Compares all runs of an archive with one another, in any order. Each bundle is read once and watched at the places
 * where other runs begin and end. For an unread bundle, the ledger gives the first and the last entry.
 */
export class History {
  readonly #eras: Era[] = [];
  /** Keyed by run and stream. */
  readonly #eraOf = new Map<string, Era>();
  /** Keyed by both runs and the stream, so that each pair is reported once. */
  readonly #findings = new Map<string, ObjectFinding>();
  /** Keys of run and stream. */
  readonly #contradicted = new Set<string>();
  /** Bundles that were read, as keys of run and stream. */
  readonly #read = new Set<string>();
  /** Place of each run in the ledger, and the places at which a stream's past was ended by an acceptance. */
  readonly #placeOf = new Map<string, number>();
  readonly #restarts = new Map<string, number[]>();

  /** @param entries ledger entries, oldest first. */
  constructor(entries: readonly LedgerEntry[]) {
    const past = new PastBuilder();
    for (const [place, entry] of entries.entries()) {
      if ('run_id' in entry) this.#placeOf.set(entry.run_id, place);
      past.add(entry);
      // An acceptance ends the era of its stream.
      if ('acceptance_key' in entry)
        this.#restarts.set(entry.stream_id, [...(this.#restarts.get(entry.stream_id) ?? []), place]);
    }
    for (const { streamId, spans } of past.ended) this.#begin(streamId, spans);
    for (const [streamId, spans] of past.spans) this.#begin(streamId, spans);
  }

  #begin(streamId: string, spans: readonly Span[]): void {
    const era: Era = { streamId, spans, facts: new Map() };
    this.#eras.push(era);
    for (const span of spans) {
      this.#eraOf.set(`${span.run_id}/${streamId}`, era);
      if (!isPlaced(span)) continue;
      const { first_sequence: first, previous_hash, head, entries_sha256 } = span.entries;
      const last = head.sequence;
      this.#add(era, span.run_id, `${first - 1}`, previous_hash);
      this.#add(era, span.run_id, `${last}`, head.hash);
      if (entries_sha256 !== null) this.#add(era, span.run_id, `${first}-${last}`, entries_sha256);
    }
  }

  /** Returns the span that the ledger states for a run and a stream; undefined if it states none. */
  spanOf(runId: string, streamId: string): Span | undefined {
    return this.#eraOf.get(`${runId}/${streamId}`)?.spans.find((span) => span.run_id === runId);
  }

  /** Returns the sections that a reader of a run's bundle must watch. */
  comparedWith(runId: string, streamId: string): ComparedSection[] {
    return comparedWith(this.spansWith(runId, streamId).filter((span) => span.run_id !== runId));
  }

  /**
   * Returns the spans that the ledger states for this run and all others, in the order in which they were finalized.
   */
  spansWith(runId: string, streamId: string): readonly Span[] {
    return this.#eraOf.get(`${runId}/${streamId}`)?.spans ?? [];
  }

  /**
   * Returns the entries of other runs of a stream since its last restart: as the ledger states them or, for runs
   * outside the ledger, as verified.
   */
  neighboursOf(
    runId: string,
    streamId: string,
    verified: readonly Pick<Neighbour, 'runId' | 'first' | 'last' | 'hash'>[],
  ): Neighbour[] {
    const placed = this.spansWith(runId, streamId).filter(isPlaced);
    const known = placed.map(({ run_id, entries: { first_sequence: first, head } }) => {
      return { runId: run_id, first, last: head.sequence, hash: head.hash };
    });
    const inLedger = new Set(known.map((one) => one.runId));
    const era = this.#eraNumber(runId, streamId);
    const others = verified.filter((one) => !inLedger.has(one.runId) && this.#eraNumber(one.runId, streamId) === era);
    return [...known, ...others]
      .filter((one) => one.runId !== runId)
      .map((one) => ({
        ...one,
        isLater: this.#place(one.runId) > this.#place(runId),
        isInLedger: inLedger.has(one.runId),
      }));
  }

  /** Returns a run's place in the ledger; a run outside the ledger comes after all others. */
  #place(runId: string): number {
    return this.#placeOf.get(runId) ?? Number.POSITIVE_INFINITY;
  }

  #eraNumber(runId: string, streamId: string): number {
    return (this.#restarts.get(streamId) ?? []).filter((place) => place < this.#place(runId)).length;
  }

  /** Reports whether another run has a different entry in the same place, or different content. */
  isContradicted(runId: string, streamId: string): boolean {
    return this.#contradicted.has(`${runId}/${streamId}`);
  }

  /**
   * Returns why the ledger does not show that a bundle continues earlier runs; null if the bundle was compared with
   * every run before it in the ledger.
   *
   * @param past runs with which the bundle was compared.
   */
  whyNotCompared(runId: string, streamId: string, { earlier, restarts }: StreamPast): string | null {
    const spans = this.#eras.filter((era) => era.streamId === streamId).flatMap((era) => era.spans);
    const own = spans.findIndex((span) => span.run_id === runId);
    if (own === -1) return 'the ledger has no entries of it to compare with other runs';
    const told = [...earlier, ...restarts.flatMap((restart) => restart.earlier)];
    const compared = new Set(told.map(({ run_id }) => run_id));
    const left = spans.slice(0, own).find(({ run_id }) => !compared.has(run_id));
    return left === undefined ? null : `it was not compared with run ${left.run_id}, which precedes it in the ledger`;
  }

  /** Reports whether the bundle was read here, with its entries in order. */
  isRead(runId: string, streamId: string): boolean {
    return this.#read.has(`${runId}/${streamId}`);
  }

  /** @param walk over a run's bundle that watched the places in `comparedWith`. */
  add(runId: string, walk: WalkResult): void {
    const era = this.#eraOf.get(`${runId}/${walk.streamId}`);
    if (era === undefined || walk.findings.errors('order') > 0) return;
    this.#read.add(`${runId}/${walk.streamId}`);
    const compared = comparedWith(era.spans);
    for (const sequence of compared.flatMap(({ first, last }) => [first - 1, last])) {
      const digest = digestAt(walk, sequence);
      if (digest !== undefined) this.#add(era, runId, `${sequence}`, digest);
    }
    const [firsts, lasts] = [compared.map(({ first }) => first), compared.map(({ last }) => last)];
    for (const first of new Set(firsts))
      for (const last of new Set(lasts)) {
        const content = first <= last ? (walk.contents.get(`${first}-${last}`) ?? null) : null;
        if (content !== null) this.#add(era, runId, `${first}-${last}`, content);
      }
  }

  #add({ streamId, facts }: Era, runId: string, place: string, value: string): void {
    const known = facts.get(place);
    if (known === undefined) {
      facts.set(place, { runId, value });
      return;
    }
    if (known.value === value || known.runId === runId) return;
    const pair = `${[known.runId, runId].sort().join('/')}/${streamId}`;
    if (this.#findings.has(pair)) return;
    const what = place.includes('-') && !place.startsWith('-') ? `the content of entries ${place}` : `entry ${place}`;
    const message = `runs ${known.runId} and ${runId} contradict each other: ${what} of the stream "${streamId}" is not the same`;
    const values = { expected: known.value, actual: value };
    this.#findings.set(pair, toObjectFinding('history/differs', runRecordKey(runId), message, values));
    for (const one of [runId, known.runId]) this.#contradicted.add(`${one}/${streamId}`);
  }

  /** Returns the findings after all bundles were read, and the refuted streams as keys of run and stream. */
  judge(checks: readonly Verified[]): { findings: ObjectFinding[]; refuted: ReadonlySet<string> } {
    const refuted = new Set(this.#contradicted);
    const gaps = this.#gaps(checks);
    for (const { streamId, runs } of gaps) for (const runId of runs) refuted.add(`${runId}/${streamId}`);
    const findings = [...this.#findings.values(), ...gaps.map(({ finding }) => finding)];
    return { findings: findings.sort((a, b) => (a.key < b.key ? -1 : 1)), refuted };
  }

  /** Finds gaps between runs, except those that are among a run's own findings. */
  #gaps(checks: readonly Verified[]): { finding: ObjectFinding; streamId: string; runs: string[] }[] {
    const told = new Set(
      checks.flatMap(({ streams }) =>
        streams.flatMap(({ verdict }) =>
          verdict.findings
            .filter(({ code }) => code === 'continuity/gap')
            .map(({ stream_id, from, to }) => `${from}-${to}/${stream_id}`),
        ),
      ),
    );
    const inScope = new Set(checks.map(({ runId }) => runId));
    return this.#eras.flatMap(({ streamId, spans }) =>
      findGaps(spans.map((span) => ({ name: span.run_id, period: span.period, entries: placeIn(span) })))
        .filter(({ before, after }) => inScope.has(before) || inScope.has(after))
        .filter(({ from, to }) => !told.has(`${from}-${to}/${streamId}`))
        .map(({ from, to, before, after }) => {
          const message = `neither run ${before} nor run ${after} has ${entriesIn(from, to)} of the stream "${streamId}", although their periods leave no time between them`;
          const finding = toObjectFinding('history/gap', runRecordKey(after), message);
          return { finding, streamId, runs: [before, after] };
        }),
    );
  }
}
