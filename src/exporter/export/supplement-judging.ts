import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toWrites } from '../../core/chunks.ts';
import { formFile } from '../../verifier/bundle/files.ts';
import { openBundle } from '../../verifier/bundle/read.ts';
import { PackageReader } from '../../verifier/chain/package.ts';
import type { StreamRecord } from '../../verifier/records/record.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { whyNoBundle } from '../../verifier/records/supplements.ts';
import { csvHeader, csvRow } from '../../verifier/supplements/csv.ts';
import type { SupplementsStatement } from '../../verifier/supplements/document.ts';
import { csvFile, KIND_NAMES, RECORD_KINDS, RECORD_STATES } from '../../verifier/supplements/files.ts';
import { askedAtOf, listedHeads } from '../../verifier/supplements/judging.ts';
import { describeRecords } from '../../verifier/supplements/reading.ts';
import { type StreamStanding, standingOf } from '../../verifier/supplements/standing.ts';
import { judgeKind, SupplementTally } from '../../verifier/supplements/tally.ts';
import type { NotedStreams } from '../../verifier/verify/noted-entries.ts';
import type { PayloadSource } from '../bundle/source.ts';
import type { ExportContext, OpenSupplements } from './context.ts';
import { observersOf } from './listing.ts';
import { notOurs } from './records.ts';
import { withFetched } from './recover.ts';
import type { StreamJobs } from './stream-jobs.ts';

/** Counts and findings of the records, and the files that state them. */
export interface JudgedRecords {
  statement: Pick<SupplementsStatement, 'kinds' | 'findings' | 'findings_count'>;
  files: PayloadSource[];
}

/** Compares every record of the period with the entries about it, after all streams were exported. */
export async function judgeRecords(
  context: ExportContext,
  { collected: { collected }, notes, folder, source: { contract } }: OpenSupplements,
  jobs: StreamJobs,
  { services, startedAt }: { services: SupplementsStatement['services']; startedAt: Date },
): Promise<JudgedRecords> {
  // Another process stored this stream's bundle first, so notes from what this process read may not match it.
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

/** Returns a function that reports what the run knows about a stream. */
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

/**
 * Notes the entries that records refer to in streams that this export did not read one by one. They are read from the
 * stored bundles; encrypted bundles stay unread.
 */
async function readBackStreams(
  context: ExportContext,
  notes: NotedStreams,
  streams: Iterable<Unbound<StreamRecord>>,
): Promise<void> {
  for (const record of streams) {
    const { stream_id: streamId, bundle } = record;
    if (!notes.wants(streamId) || bundle.encrypted !== undefined || notes.of(streamId) !== null) continue;
    context.runtime.signal.throwIfAborted();
    await readBack(context, notes, record);
  }
}

async function readBack(
  context: ExportContext,
  notes: NotedStreams,
  { stream_id: streamId, bundle: { key, sha256 } }: Unbound<StreamRecord>,
): Promise<void> {
  await withFetched(context, key, async (fetched) => {
    if (fetched.sha256 !== sha256) throw notOurs(key, 'it is not the bundle that was recorded');
    const bundle = await openBundle(fetched.file, {}, key);
    try {
      const paths = bundle.entries.map(({ path }) => path);
      const path = formFile('json', paths);
      const observers = observersOf(notes.begin(streamId), null);
      if (path === undefined) return;
      using reader = new PackageReader(context.service.contract, new Map(), { streamId, ...observers });
      for await (const block of bundle.blocksOf(path)) reader.push(block);
      reader.finish();
    } finally {
      await bundle.close();
    }
  });
}

/** Number of characters that are written at once. */
const BLOCK = 256 * 1024;

/** File of a bag that is written line by line, because it may be too large for memory. */
class LineFile implements Disposable {
  readonly source: PayloadSource;
  readonly #file: number;
  #waiting: string[] = [];
  #length = 0;

  /** @param file created by the constructor. @param path in the bag. */
  constructor(file: string, path: string) {
    this.source = { path, file };
    this.#file = openSync(file, 'w', 0o600);
  }

  /** @param line including its line end. */
  write(line: string): void {
    this.#waiting.push(line);
    this.#length += line.length;
    if (this.#length >= BLOCK) this.#flush();
  }

  /** Completes the file. */
  [Symbol.dispose](): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    for (const piece of toWrites(Buffer.from(this.#waiting.join('')))) writeFileSync(this.#file, piece);
    this.#waiting = [];
    this.#length = 0;
  }
}
