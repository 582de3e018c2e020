import { createHash } from 'node:crypto';
import { utf8Bytes } from '../../core/bytes.ts';
import { whereDefined } from '../../core/defined.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import { grouped } from '../../core/plurals.ts';
import type { RunRecord } from '../records/record.ts';
import { type RunSupplements, whyNoBundle } from '../records/supplements.ts';
import { csvHeader, csvRow } from '../supplements/csv.ts';
import { type RecordState, recordStateSchema } from '../supplements/document.ts';
import { csvFile, KIND_NAMES, RECORD_STATES, type RecordKind, recordFiles } from '../supplements/files.ts';
import { askedAtOf, listedHeads } from '../supplements/judging.ts';
import { describeRecords, readRecords, recordsOfPeriod } from '../supplements/reading.ts';
import { type StreamStanding, standingOf } from '../supplements/standing.ts';
import { judgeKind, SupplementTally } from '../supplements/tally.ts';
import type { NotedStreams } from './noted-entries.ts';
import {
  type Checked,
  checked,
  type ObjectFinding,
  readInBundle,
  recordDiffers,
  toObjectFinding,
} from './object-finding.ts';
import { sameRecord } from './recorded-stream.ts';
import type { VerifiedStream } from './stream.ts';
import { collectedKinds } from './supplement-files.ts';
import { MAX_ANSWER_BYTES, type SoundSupplements, type SupplementsCheck } from './supplements-check.ts';

/**
 * Returns the numbers of the entries that records of the period name, by stream id; null if an answer cannot be read.
 */
export async function wantedIn(
  sound: SoundSupplements,
  run: RunRecord,
): Promise<Checked<Map<string, Set<number>> | null>> {
  const { bundle, contract, files, key } = sound;
  const isOfPeriod = recordsOfPeriod(run.period);
  const wanted = new Map<string, Set<number>>();
  if (run.supplements === null) return checked(wanted);
  for (const kind of collectedKinds(sound, run.supplements))
    for (const path of recordFiles(kind, files.keys())) {
      const read = async () => readRecords(contract, kind, await bundle.readFile(path, MAX_ANSWER_BYTES));
      const { value: records, findings } = await readInBundle(`${key}:${path}`, read);
      if (records === null) return { value: null, findings };
      for (const { entry } of records.filter(isOfPeriod)) {
        if (entry === null) continue;
        const numbers = wanted.get(entry.streamId) ?? new Set();
        wanted.set(entry.streamId, numbers.add(entry.sequence));
      }
    }
  return checked(wanted);
}

interface Judging {
  run: RunRecord;
  supplements: RunSupplements;
  sound: SoundSupplements;
  notes: NotedStreams;
  /** Streams as verified now. */
  streams: readonly VerifiedStream[];
}

/** Judges every record and compares the result with the statements of the bag and the run record. */
export async function judgeSupplements(judging: Judging): Promise<Checked<SupplementsCheck>> {
  const { run, supplements, sound } = judging;
  const { contract, bundle, files, key } = sound;
  const standing = standings(judging);
  const { period, started_at: startedAt } = run;
  const askedAt = askedAtOf(supplements.services, { startedAt, to: period.to });
  const tally = new SupplementTally({ contract, period, standingOf: standing, askedAt });
  const comparison = new StateComparison(`${key}:${RECORD_STATES}`);
  const recorded = linesOf(bundle.blocksOf(RECORD_STATES));
  for (const kind of collectedKinds(sound, supplements)) {
    const description = contract.supplements && describeRecords(contract.supplements, kind);
    if (description == null) continue;
    const table = createHash('sha256').update(csvHeader(description));
    const received = { paths: files.keys(), read: (path: string) => bundle.readFile(path, MAX_ANSWER_BYTES) };
    for await (const { record, state } of judgeKind(contract, kind, received, tally)) {
      const stated = readState((await recorded.next()).value);
      const isOpen = sound.isByReader || isUnread(standing(state.entry?.stream_id ?? ''));
      if (!comparison.add(state, stated, isOpen) || stated === null)
        return { value: asFound(judging, tally), findings: comparison.findings };
      table.update(csvRow(description, record.value, stated));
    }
    if (table.digest('hex') !== files.get(csvFile(kind))?.sha256)
      comparison.findings.push(
        toObjectFinding(
          'bundle/contradiction',
          `${key}:${csvFile(kind)}`,
          'is not the table that follows from what was received',
        ),
      );
  }
  tally.finish(run.streams.map(({ stream_id }) => stream_id));
  if ((await recorded.next()).done !== true) comparison.differs('has more lines than there are records');
  const counted = comparison.agreesWith(supplements)
    ? []
    : [recordDiffers(`${key}:${RECORD_STATES}`, 'has other counts than run.json')];
  const errors = tally.statement.findings.filter(({ severity }) => severity === 'error');
  const findings = [...comparison.findings, ...counted, ...errors.map((one) => inRun(one, key))];
  return { value: asFound(judging, tally), findings };
}

function isUnread(standing: StreamStanding): boolean {
  return standing.kind === 'unknown' || (standing.kind === 'read' && standing.open !== null);
}

function asFound({ supplements: { services } }: Judging, tally: SupplementTally): SupplementsCheck {
  return { services, judged: true, proved: tally.proved, ...tally.statement };
}

function inRun(finding: SupplementsCheck['findings'][number], key: string): ObjectFinding {
  const { code, severity, message, kind, id, records, expected, actual } = finding;
  const first = `${kind} ${JSON.stringify(id)}`;
  return {
    code,
    severity,
    key: `${key}:${RECORD_STATES}`,
    message: `${records === 1 ? first : `${grouped(records)} ${kind}, of which the first is ${first}`}: ${message}`,
    ...whereDefined({ expected, actual }),
  };
}

/**
 * Returns the standing of each stream as found now. A stream that the export refuted stays refuted, whatever this
 * reader lacks.
 */
function standings({ run, streams, notes }: Judging): (streamId: string) => StreamStanding {
  const refuted = new Set(run.streams.filter(({ status }) => status === 'refuted').map(({ stream_id }) => stream_id));
  const heads = listedHeads(run.stream_list);
  const requested = new Map(run.streams.map(({ stream_id, collected }) => [stream_id, collected.requested_at]));
  const askedOf = (streamId: string) => ({
    listed: heads.get(streamId) ?? null,
    requestedAt: requested.get(streamId) ?? '',
  });
  const known = new Map(
    streams.map(({ verdict }): [string, StreamStanding] => {
      const { stream_id } = verdict;
      if (refuted.has(stream_id)) return [stream_id, { kind: 'refuted' }];
      const noted = notes.of(stream_id);
      return [stream_id, standingOf(verdict, noted, askedOf(stream_id))];
    }),
  );
  return (streamId) => known.get(streamId) ?? { kind: 'unknown', reason: whyNoBundle(streamId, run) };
}

/** Compares the bag's statement about each record with the result found now. */
class StateComparison {
  readonly findings: ObjectFinding[] = [];
  readonly #place: string;
  /** Counts of the recorded states. */
  readonly #kinds = new Map<RecordKind, Partial<Record<RecordState['state'], number>>>();

  constructor(place: string) {
    this.#place = place;
  }

  differs(message: string): void {
    this.findings.push(toObjectFinding('bundle/contradiction', this.#place, message));
  }

  /** @returns whether the following records can still be compared. */
  add(now: RecordState, stated: RecordState | null, isOpen: boolean): boolean {
    const of = `the record ${JSON.stringify(now.id)} of ${now.kind}`;
    if (stated === null || stated.kind !== now.kind || stated.id !== now.id) {
      this.differs(`does not state how ${of} was judged`);
      return false;
    }
    if (!sameRecord(stated.entry ?? null, now.entry ?? null)) this.differs(`names another entry of ${of}`);
    if (!isOpen && stated.state === now.state && !sameRecord(stated.as_reported ?? [], now.as_reported ?? []))
      this.differs(`names other columns of ${of} that no entry states`);
    const counts = this.#kinds.get(now.kind) ?? {};
    this.#kinds.set(now.kind, { ...counts, [stated.state]: (counts[stated.state] ?? 0) + 1 });
    if (!isTolerable(stated, now, isOpen))
      this.findings.push(
        toObjectFinding('verdict/differs', this.#place, `states another result for ${of} than was found`, {
          expected: stated.state,
          actual: now.state,
        }),
      );
    return true;
  }

  agreesWith({ kinds }: RunSupplements): boolean {
    const names = ['proved_by_entry', 'contradicted', 'unproved', 'no_entry'] as const;
    return KIND_NAMES.every((kind) => {
      const stated = this.#kinds.get(kind) ?? {};
      const counts = kinds[kind];
      if (counts === undefined) return !this.#kinds.has(kind);
      const sum = names.reduce((total, name) => total + counts[name], 0);
      return sum === counts.in_period && names.every((name) => counts[name] === (stated[name] ?? 0));
    });
  }
}

/**
 * Reports whether a recorded state is compatible with the one found now. Another reader may lack a key or an identity,
 * or have an identity that the export lacked.
 * @param isOpen true if the stream tells this reader nothing.
 */
function isTolerable(stated: RecordState, now: RecordState, isOpen: boolean): boolean {
  if (stated.state === now.state) return true;
  return stated.state === 'unproved' ? now.state === 'proved_by_entry' : now.state === 'unproved' && isOpen;
}

const MAX_LINE = 2 ** 20;

/** @throws EvidenceError `unreadable` if a line is too long or has no end. */
async function* linesOf(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const block of blocks) {
    rest = Buffer.concat([rest, block]);
    let start = 0;
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a, start)) {
      yield rest.subarray(start, end).toString('utf8');
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > MAX_LINE) throw new EvidenceError('unreadable', `${RECORD_STATES} has a line that is too long`);
  }
  if (rest.length > 0) throw new EvidenceError('unreadable', `the last line of ${RECORD_STATES} has no end`);
  return undefined;
}

/** Returns null for a line that no export writes. */
function readState(line: string | undefined): RecordState | null {
  if (line === undefined) return null;
  try {
    const read = recordStateSchema.safeParse(parseExactJson(utf8Bytes(line)).value);
    return read.success && JSON.stringify(read.data) === line ? read.data : null;
  } catch (error) {
    if (isEvidenceError(error)) return null;
    throw error;
  }
}
