import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import type { PayloadSource } from '../../verifier/bundle/source.ts';
import { whyNoBundle } from '../../verifier/records/supplements.ts';
import { csvHeader, csvRow } from '../../verifier/supplements/csv.ts';
import type { SupplementsStatement } from '../../verifier/supplements/document.ts';
import { csvFile, RECORD_STATES, type RecordKind } from '../../verifier/supplements/files.ts';
import { describeRecords } from '../../verifier/supplements/reading.ts';
import { type StreamStanding, standingOf } from '../../verifier/supplements/standing.ts';
import { SupplementTally } from '../../verifier/supplements/tally.ts';
import type { NotedStreams } from '../../verifier/verify/noted-streams.ts';
import { type CollectedService, kindsOf } from '../supplements/collect.ts';
import type { SupplementSource } from '../supplements/source.ts';
import type { ExportContext } from './context.ts';
import { LineFile } from './line-file.ts';
import { readBackStreams } from './read-back.ts';
import type { StreamJobs } from './stream-jobs.ts';
import type { OpenSupplements } from './supplements.ts';

/** What was found of the records, and the files that say so. */
export interface JudgedRecords {
  statement: Pick<SupplementsStatement, 'kinds' | 'findings' | 'findings_count'>;
  files: PayloadSource[];
}

/** What it takes to judge the records of a service. */
interface Judging {
  contract: SupplementSource['contract'];
  tally: SupplementTally;
  states: LineFile;
  folder: string;
  signal: AbortSignal;
}

/** Holds every record of the period against the entry that it names, once all streams were exported. */
export async function judgeRecords(
  context: ExportContext,
  { collected: { collected }, notes, folder, source: { contract } }: OpenSupplements,
  jobs: StreamJobs,
): Promise<JudgedRecords> {
  const streams = [...jobs.recorded.map(({ record }) => record), ...jobs.incomplete];
  // Of what another process was faster to store, this one may have read something else.
  for (const { record } of jobs.recovered) notes.forget(record.stream_id);
  await readBackStreams(context, notes, streams);
  const tally = new SupplementTally({
    contract,
    period: context.question.period,
    standingOf: standingsOf(jobs, notes),
  });
  using states = new LineFile(join(folder, 'records.jsonl'), RECORD_STATES);
  const tables: LineFile[] = [];
  for (const service of collected)
    for (const kind of kindsOf(service.service))
      tables.push(
        ...(await judgeKind({ contract, tally, states, folder, signal: context.runtime.signal }, service, kind)),
      );
  return { statement: tally.statement, files: [states, ...tables].map(({ source }) => source) };
}

/** @returns the table of the kind; none where the service shows nothing of it. */
async function judgeKind(
  { contract, tally, states, folder, signal }: Judging,
  { received }: CollectedService,
  kind: RecordKind,
): Promise<LineFile[]> {
  const description = describeRecords(contract.supplements, kind);
  if (description === null) return [];
  tally.begin(kind);
  using table = new LineFile(join(folder, `${kind}.csv`), csvFile(kind));
  table.write(csvHeader(description));
  for (const records of received.records(contract, kind)) {
    for (const record of records) {
      const state = tally.judge(record);
      if (state === null) continue;
      states.write(`${JSON.stringify(state)}\n`);
      table.write(csvRow(description, record.value, state));
    }
    await otherWork();
    signal.throwIfAborted();
  }
  return [table];
}

/** What the run knows of each stream. */
function standingsOf(
  { recorded, incomplete, failed, selection }: StreamJobs,
  notes: NotedStreams,
): (streamId: string) => StreamStanding {
  const streams = [...recorded.map(({ record }) => record), ...incomplete];
  const standings = new Map(
    streams.map((record) => {
      const noted = notes.of(record.stream_id);
      return [
        record.stream_id,
        standingOf(record, noted === null ? null : (sequence) => noted.find(sequence)),
      ] as const;
    }),
  );
  return (streamId) =>
    standings.get(streamId) ?? {
      kind: 'unknown',
      reason: whyNoBundle(streamId, { failed, excluded: selection.excluded }),
    };
}
