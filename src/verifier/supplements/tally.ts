import { whereDefined } from '../../core/defined.ts';
import { sha256 } from '../../core/digest.ts';
import { KEPT_FINDINGS } from '../model/finding-log.ts';
import { type SupplementFinding, toSupplementFinding } from '../model/supplement-finding.ts';
import type { Description } from '../profile/description.ts';
import type { KindCounts, RecordState, SupplementsStatement } from './document.ts';
import { type RecordKind, recordFiles } from './files.ts';
import {
  contradicted,
  type JudgedContract,
  judgeRecord,
  type RecordFault,
  type RecordJudgement,
  type RecordsAsked,
} from './judging.ts';
import { isToBeThere } from './missing-records.ts';
import { type NamedEntry, readRecords, recordsOfPeriod, type SupplementRecord } from './reading.ts';
import type { StreamStanding } from './standing.ts';

interface Run {
  contract: JudgedContract;
  /** Half-open. */
  period: { from: string | null; to: string | null };
  standingOf(streamId: string): StreamStanding;
  /** Returns null for a kind that was not requested. */
  askedAt(kind: RecordKind): RecordsAsked | null;
}

/** Number of records of a kind that entries of a stream prove. */
export interface ProvedRecords {
  kind: RecordKind;
  stream_id: string;
  records: number;
}

/** Judges the records of a run one by one, and counts the results. */
export class SupplementTally {
  readonly #run: Run;
  readonly #isOfPeriod: (record: SupplementRecord) => boolean;
  readonly #kinds = new Map<RecordKind, KindCounts>();
  /** Digest of each record as read, which detects a record that is received again. */
  readonly #seen = new Map<string, string>();
  readonly #findings = new Map<string, SupplementFinding<RecordKind>>();
  /** Proved records, by the stream of their entries. */
  readonly #proved = new Map<string, ProvedRecords>();
  readonly #kept = new Map<RecordFault['code'], number>();
  #found = 0;

  constructor(run: Run) {
    this.#run = run;
    this.#isOfPeriod = recordsOfPeriod(run.period);
  }

  /** Registers a collected kind, even if it has no record. */
  begin(kind: RecordKind): void {
    const none = {
      records: 0,
      in_period: 0,
      proved_by_entry: 0,
      contradicted: 0,
      unproved: 0,
      no_entry: 0,
      missing: 0,
    };
    this.#kinds.set(kind, this.#kinds.get(kind) ?? none);
  }

  /**
   * Judges a record. Returns null for a record of another period, unless an entry contradicts that, and for a repeated
   * one.
   */
  judge(record: SupplementRecord): RecordState | null {
    this.begin(record.kind);
    const counts = this.#kinds.get(record.kind);
    const key = keyOf({ kind: record.kind, id: record.id, streamId: record.entry?.streamId ?? null });
    const { time, entry, says } = record;
    const read = sha256(JSON.stringify([time, entry, [...says]]));
    const before = this.#seen.get(key);
    if (counts === undefined || before === read) return null;
    this.#seen.set(key, before ?? read);
    counts.records++;
    const askedAt = this.#run.askedAt(record.kind);
    if (askedAt === null) throw new TypeError(`${record.kind} were not asked for`);
    const isOfPeriod = this.#isOfPeriod(record);
    if (!isOfPeriod && !this.#isDatedIntoPeriod(record, askedAt)) return null;
    const standingOf = (streamId: string) => this.#run.standingOf(streamId);
    const { fault, ...judgement } =
      before === undefined
        ? judgeRecord(this.#run.contract, record, { standingOf, askedAt })
        : contradicted('it comes twice, and does not say the same both times');
    if (!isOfPeriod && judgement.state !== 'contradicted') return null;
    counts.in_period++;
    counts[judgement.state]++;
    if (fault !== undefined) this.#note(record, fault);
    if (judgement.state === 'proved_by_entry' && entry !== null) this.#prove(record.kind, entry.streamId);
    return toState(record, judgement);
  }

  /** Reports whether an entry dates a record into the period that is, by its own statement, of another one. */
  #isDatedIntoPeriod({ kind, id, entry }: SupplementRecord, askedAt: RecordsAsked): boolean {
    const { contract, period } = this.#run;
    const standing = entry === null ? null : this.#run.standingOf(entry.streamId);
    if (standing?.kind !== 'read' || standing.open !== null) return false;
    const sequence = standing.notes.implied(kind).get(id);
    return sequence !== undefined && isToBeThere(contract, { kind, id, sequence }, { standing, askedAt, period });
  }

  /**
   * Looks for records that entries of the bundles name but that were not received, after all records were judged.
   * @param streamIds streams of the run.
   */
  finish(streamIds: Iterable<string>): void {
    for (const streamId of streamIds)
      for (const kind of this.#kinds.keys()) {
        const askedAt = this.#run.askedAt(kind);
        if (askedAt !== null) this.#finishStream(streamId, kind, askedAt);
      }
  }

  #finishStream(streamId: string, kind: RecordKind, askedAt: RecordsAsked): void {
    const { contract, period } = this.#run;
    const standing = this.#run.standingOf(streamId);
    if (standing.kind !== 'read' || standing.open !== null) return;
    for (const [id, sequence] of standing.notes.implied(kind)) {
      if (this.#seen.has(keyOf({ kind, id, streamId }))) continue;
      if (isToBeThere(contract, { kind, id, sequence }, { standing, askedAt, period }))
        this.#miss(kind, id, streamId, sequence);
    }
  }

  #miss(kind: RecordKind, id: string, streamId: string, sequence: number): void {
    const counts = this.#kinds.get(kind);
    if (counts !== undefined) counts.missing++;
    const message = `entry ${sequence} of "${streamId}" says that it is there, and the service does not show it`;
    const entry = { streamId, sequence };
    this.#note({ kind, id, entry }, { code: 'supplement/missing', message, isCommon: false });
  }

  get statement(): Pick<SupplementsStatement, 'kinds' | 'findings' | 'findings_count'> {
    return {
      kinds: Object.fromEntries(this.#kinds) as SupplementsStatement['kinds'],
      findings: [...this.#findings.values()],
      findings_count: this.#found,
    };
  }

  /** Numbers of records by kind and by the stream whose entries prove them. */
  get proved(): ProvedRecords[] {
    return [...this.#proved.values()];
  }

  #prove(kind: RecordKind, streamId: string): void {
    const key = JSON.stringify([kind, streamId]);
    const records = this.#proved.get(key)?.records ?? 0;
    this.#proved.set(key, { kind, stream_id: streamId, records: records + 1 });
  }

  #note({ kind, id, entry }: Noted, { isCommon, code, message, ...values }: RecordFault): void {
    this.#found++;
    const key = JSON.stringify(isCommon ? [code, kind, entry?.streamId, message] : [code, kind, this.#found]);
    const known = this.#findings.get(key);
    const kept = this.#kept.get(code) ?? 0;
    if (known !== undefined) known.records++;
    else if (kept < KEPT_FINDINGS) {
      this.#kept.set(code, kept + 1);
      this.#findings.set(
        key,
        toSupplementFinding({
          code,
          kind,
          id,
          records: 1,
          ...(entry === null ? {} : { stream_id: entry.streamId }),
          ...(entry === null || isCommon ? {} : { sequence: entry.sequence }),
          ...values,
          message,
        }),
      );
    }
  }
}

type Noted = Pick<SupplementRecord, 'kind' | 'id'> & { entry: Pick<NamedEntry, 'streamId' | 'sequence'> | null };

function keyOf({ kind, id, streamId }: { kind: RecordKind; id: string; streamId: string | null }): string {
  return JSON.stringify([kind, id, streamId]);
}

function toState(
  { kind, id, entry }: SupplementRecord,
  { state, code, reason, asReported = [] }: Omit<RecordJudgement, 'fault'>,
): RecordState {
  return {
    kind,
    id,
    state,
    ...whereDefined({ code, reason }),
    ...(asReported.length === 0 ? {} : { as_reported: asReported }),
    ...(entry !== null && {
      entry: {
        stream_id: entry.streamId,
        sequence: entry.sequence,
        ...(entry.digest !== null && { hash: entry.digest }),
      },
    }),
  };
}

/** Files as received, by their paths in the bag. */
export interface ReceivedFiles {
  paths: Iterable<string>;
  read(path: string): Uint8Array | Promise<Uint8Array>;
}

/**
 * Yields the records of a kind that are in the period, each with its state, in the order of their lines in
 * `data/records.jsonl` and in the table of the kind. Holds one answer of the service in memory at a time.
 * @throws EvidenceError `contract`, `unreadable` if an answer violates the contract.
 */
export async function* judgeKind(
  contract: Description,
  kind: RecordKind,
  files: ReceivedFiles,
  tally: SupplementTally,
): AsyncGenerator<{ record: SupplementRecord; state: RecordState }> {
  tally.begin(kind);
  for (const path of recordFiles(kind, files.paths))
    for (const record of readRecords(contract, kind, await files.read(path))) {
      const state = tally.judge(record);
      if (state !== null) yield { record, state };
    }
}
