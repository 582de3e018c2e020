import { join } from 'node:path';
import type { StreamRecord } from '../../verifier/records/record.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { whyNoBundle } from '../../verifier/records/supplements.ts';
import { csvHeader, csvRow } from '../../verifier/supplements/csv.ts';
import type { SupplementsStatement } from '../../verifier/supplements/document.ts';
import { csvFile, KIND_NAMES, RECORD_KINDS, RECORD_STATES } from '../../verifier/supplements/files.ts';
import { askedAtOf, listedHeads } from '../../verifier/supplements/judging.ts';
import { judgeKind } from '../../verifier/supplements/pass.ts';
import { describeRecords } from '../../verifier/supplements/reading.ts';
import { type StreamStanding, standingOf } from '../../verifier/supplements/standing.ts';
import { SupplementTally } from '../../verifier/supplements/tally.ts';
import type { NotedStreams } from '../../verifier/verify/noted-streams.ts';
import type { PayloadSource } from '../bundle/source.ts';
import type { ExportContext } from './context.ts';
import { LineFile } from './line-file.ts';
import type { OpenSupplements } from './open-supplements.ts';
import { readBackStreams } from './read-back.ts';
import type { StreamJobs } from './stream-jobs.ts';

/** Findings of the records, and the files that state them. */
export interface JudgedRecords {
  statement: Pick<SupplementsStatement, 'kinds' | 'findings' | 'findings_count'>;
  files: PayloadSource[];
}

/** Compares every record of the period with the entries about it, once all streams were exported. */
export async function judgeRecords(
  context: ExportContext,
  { collected: { collected }, notes, folder, source: { contract } }: OpenSupplements,
  jobs: StreamJobs,
  { services, startedAt }: { services: SupplementsStatement['services']; startedAt: Date },
): Promise<JudgedRecords> {
  // This process may have read something else of a stream that another one was faster to store.
  for (const { streamId } of jobs.recovered) notes.forget(streamId);
  await readBackStreams(context, notes, receivedIn(jobs));
  const { period } = context.question;
  const askedAt = askedAtOf(services, { startedAt: startedAt.toISOString(), to: period.to });
  const tally = new SupplementTally({ contract, period, standingOf: standingsOf(jobs, notes), askedAt });
  using states = new LineFile(join(folder, 'records.jsonl'), RECORD_STATES);
  const files = [states];
  for (const kind of KIND_NAMES) {
    const description = describeRecords(contract.supplements, kind);
    const service = collected.find((one) => one.service === RECORD_KINDS[kind]);
    if (description === null || service === undefined) continue;
    using table = new LineFile(join(folder, `${kind}.csv`), csvFile(kind));
    files.push(table);
    table.write(csvHeader(description));
    for await (const { record, state } of judgeKind(contract, kind, service.received, tally)) {
      context.runtime.signal.throwIfAborted();
      states.write(`${JSON.stringify(state)}\n`);
      table.write(csvRow(description, record.value, state));
    }
  }
  tally.finish(Array.from(receivedIn(jobs), ({ stream_id }) => stream_id));
  return { statement: tally.statement, files: files.map(({ source }) => source) };
}

/** Returns the run's knowledge of each stream. */
function standingsOf(jobs: StreamJobs, notes: NotedStreams): (streamId: string) => StreamStanding {
  const { failed, selection } = jobs;
  const heads = listedHeads(selection.list);
  const standings = new Map<string, StreamStanding>();
  for (const record of receivedIn(jobs)) {
    const { stream_id: streamId, collected } = record;
    const asked = { listed: heads.get(streamId) ?? null, requestedAt: collected.requested_at };
    standings.set(streamId, standingOf(record, notes.of(streamId), asked));
  }
  return (streamId) =>
    standings.get(streamId) ?? {
      kind: 'unknown',
      reason: whyNoBundle(streamId, { failed, excluded: selection.excluded }),
    };
}

function* receivedIn({ recorded, incomplete }: StreamJobs): Generator<Unbound<StreamRecord>> {
  for (const { record } of recorded) yield record;
  yield* incomplete;
}
