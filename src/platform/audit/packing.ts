import type { ReadableDatabase, Reader } from '../database/database.ts';
import { type PackedCheckpoints, packedCheckpoints } from './checkpoint-rows.ts';
import { EntryPages } from './entry-rows.ts';
import type { RowSeals, StoredPackage } from './sealed-rows.ts';
import { findStream, type StreamRow, streamToWire } from './streams.ts';
import { headOf, periodOf, summaryOf, takeCensus } from './summary.ts';
import type { AuditTables } from './tables.ts';
import type { GenerateRequest, WireCheckpoint } from './wire.ts';

/** Package with the id of its stream. */
export type PackageRow = StoredPackage & { stream_id: string };

/** Package that is not stored yet. */
export type NewPackage = Omit<PackageRow, 'number' | 'seal'>;

export interface PackageOrder {
  packageId: string;
  /** Time of generation. */
  now: string;
  request: GenerateRequest;
}

/** Fixes what a package states about its stream. @throws DomainError `not_found`; the reason of `signal`. */
export async function settlePackage(
  database: ReadableDatabase,
  seals: RowSeals,
  { packageId, now, request }: PackageOrder,
  signal: AbortSignal,
): Promise<NewPackage> {
  const pages = new EntryPages(database);
  const row = await findStream(database, request.stream_id);
  const stream = streamToWire(row, seals);
  const range = await rangeOfPeriod(database, row, request);
  const ends = range && { first: await pages.one(row, range.first), last: await pages.one(row, range.last) };
  const counts = pages.counts(row, range?.first ?? 1, range?.last ?? 0);
  const census = await takeCensus(counts, ends, signal);
  const packed = {
    stream_no: row.stream_no,
    stream_id: stream.stream_id,
    first_sequence: census.first?.sequence ?? null,
    last_sequence: census.last?.sequence ?? null,
    checkpoints: row.checkpoint_count,
    anchored: row.anchored_count,
  };
  const anchors = await withoutTokens(database, seals, packed);
  const facts = { packageId, stream, period: periodOf(request), now, census, anchors };
  return {
    ...packed,
    package_id: packageId,
    title: request.title ?? `Audit evidence of ${stream.stream_id}`,
    created_at: now,
    entry_count: census.count,
    head: JSON.stringify(headOf(facts)),
    summary: JSON.stringify(summaryOf(facts)),
  };
}

/** Returns the checkpoints of a package without their tokens, which are long. */
export async function withoutTokens(
  reader: Reader,
  seals: RowSeals,
  packed: PackedCheckpoints,
): Promise<WireCheckpoint[]> {
  const short: WireCheckpoint[] = [];
  for await (const checkpoint of packedCheckpoints(reader, seals, packed))
    short.push({ ...checkpoint, anchor: { ...checkpoint.anchor, token: null } });
  return short;
}

/** Yields the JSON form, entries last, in pieces of bounded size. The bytes are the same every time. */
export async function* packageJson(reader: Reader, seals: RowSeals, row: PackageRow): AsyncGenerator<Uint8Array> {
  let separator = '';
  yield Buffer.from(`${row.head.slice(0, -1)},"checkpoints":[`);
  for await (const checkpoint of packedCheckpoints(reader, seals, row)) {
    yield Buffer.from(separator + JSON.stringify(checkpoint));
    separator = ',';
  }
  yield Buffer.from('],"entries":[');
  let comma = 1;
  const { first_sequence, last_sequence } = row;
  for await (const page of new EntryPages(reader).json(row, first_sequence ?? 1, last_sequence ?? 0)) {
    yield page.subarray(comma);
    comma = 0;
  }
  yield Buffer.from(']}');
}

/**
 * Returns the range of sequence numbers that a period covers. A package has all entries of the range, also those with
 * other times, because the clock was corrected or their times were changed in the database.
 */
async function rangeOfPeriod(
  reader: Reader,
  { stream_no, head_sequence }: StreamRow,
  { from, to }: GenerateRequest,
): Promise<{ first: number; last: number } | null> {
  const entries = reader.tables<AuditTables>().selectFrom('entries').where('stream_no', '=', stream_no);
  let query = entries.where('sequence', '<=', head_sequence);
  if (from) query = query.where('timestamp', '>=', from);
  if (to) query = query.where('timestamp', '<', to);
  // Two queries, because each one is answered from one end of an index; a combined query would read the whole index.
  const first = await query.select(({ fn }) => fn.min<number | null>('sequence').as('at')).executeTakeFirstOrThrow();
  const last = await query.select(({ fn }) => fn.max<number | null>('sequence').as('at')).executeTakeFirstOrThrow();
  return first.at === null || last.at === null ? null : { first: first.at, last: last.at };
}
