import { hash, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { newestFirst } from '../http/newest-first.ts';
import { Histogram } from '../metrics/histogram.ts';
import { nextNumber } from './head-rows.ts';
import type { StreamInspection } from './inspection.ts';
import type { RowSeals } from './sealed-rows.ts';
import { SharedWork } from './shared-work.ts';
import { findStream, type StreamRow, streamToWire } from './streams.ts';
import type { AuditTables } from './tables.ts';
import { addToTotals } from './totals.ts';
import type { WireVerification } from './wire.ts';

/** Bounds in seconds; a stream has a few entries, or millions. */
const BOUNDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800];

interface VerifyDeps {
  database: Database;
  seals: RowSeals;
  clock: () => Date;
  inspect(streamId: string, signal: AbortSignal): Promise<StreamInspection>;
}

/** Checks streams on request, and records the results. */
export class Verifier {
  readonly #deps: VerifyDeps;
  readonly #running = new SharedWork<WireVerification>();
  readonly durations = new Histogram('audit_verify_duration_seconds', 'Duration of stream checks.', BOUNDS);

  constructor(deps: VerifyDeps) {
    this.#deps = deps;
  }

  /**
   * Checks a stream, one check of it at a time in this process: a request during a check gets the result of that check.
   * Another process may check the stream at the same time. Both checks are recorded and counted, and the stream shows
   * the one that started later.
   * @throws DomainError `not_found` if the stream does not exist; the reason of `signal`.
   */
  verify(streamId: string, signal: AbortSignal): Promise<WireVerification> {
    return this.#running.join(streamId, signal, (abandoned) => this.#verify(streamId, abandoned));
  }

  async #verify(streamId: string, signal: AbortSignal): Promise<WireVerification> {
    const { database, seals, clock, inspect } = this.#deps;
    const began_at = clock().toISOString();
    const begun = performance.now();
    const inspection = await inspect(streamId, signal);
    const checked_at = clock().toISOString();
    const outcome = inspection.found.verified ? 'verified' : 'failed';
    this.durations.observe((performance.now() - begun) / 1000, { outcome });
    const verification: WireVerification = { verification_id: randomUUID(), checked_at, ...inspection.found };
    await recordVerification(database, seals, { verification, began_at, inspection });
    return verification;
  }
}

/**
 * Maximum number of checks in a page. A check may have a thousand failures, so a few checks already make a large page.
 */
const MOST_AT_ONCE = 50;

type Found = Selectable<AuditTables['verifications']> & { stream_id: string };

interface NewVerification {
  verification: WireVerification;
  began_at: string;
  inspection: StreamInspection;
}

/** Records a check. If two checks overlap, the stream shows the one that started later. */
function recordVerification(database: Database, seals: RowSeals, made: NewVerification): Promise<void> {
  const { stream_id } = made.verification;
  return database.write(async (transaction) => {
    // The lock keeps others from recording a check of the stream in the meantime, which would count the same change
    // twice.
    const number = await nextNumber(transaction, seals, stream_id, 'verifications');
    const tables = transaction.tables<AuditTables>();
    const before = await findStream(transaction, stream_id);
    const row = toRow(made, number, seals);
    const inserted = tables.insertInto('verifications').values(row).returning('verification_no');
    const { verification_no } = await inserted.executeTakeFirstOrThrow();
    const shown = streamToWire(before, seals);
    if (shown.verification_status !== 'unverified' && (before.began_at ?? '') > made.began_at) return;
    await tables.updateTable('streams').set({ verification_no }).where('stream_id', '=', stream_id).execute();
    await count(transaction, seals, before, made.verification);
  });
}

/** Updates the totals by the difference to the stream's previous check. */
async function count(
  transaction: Transaction,
  seals: RowSeals,
  before: StreamRow,
  { verified, to_sequence }: WireVerification,
): Promise<void> {
  const { verification_status: was } = streamToWire(before, seals);
  await addToTotals(transaction, seals, {
    streams: 0,
    verified: Number(verified) - Number(was === 'verified'),
    failed: Number(!verified) - Number(was === 'failed'),
    reached: (to_sequence ?? 0) - (was === 'unverified' ? 0 : (before.to_sequence ?? 0)),
  });
}

function toRow({ verification, began_at, inspection }: NewVerification, number: number, seals: RowSeals) {
  const { stream_id, failures, verified, ...found } = verification;
  const text = JSON.stringify(failures);
  const row = {
    ...found,
    number,
    verified: Number(verified),
    began_at,
    sound_through: inspection.sound_through,
    failures_sha256: hash('sha256', text, 'hex'),
  };
  return { ...row, stream_no: inspection.stream_no, failures: text, seal: seals.verification(row, stream_id) };
}

/**
 * Returns the checks of a stream, newest first. Omits checks that were changed outside the service.
 * @throws DomainError `not_found`.
 */
export async function listVerifications(
  database: Database,
  seals: RowSeals,
  streamId: string,
  { limit, cursor }: PageQuery,
): Promise<{ data: WireVerification[]; next_cursor: string | null }> {
  const { stream_no } = await findStream(database, streamId);
  const most = Math.min(limit, MOST_AT_ONCE);
  const query = verificationsQuery(database).where('verifications.stream_no', '=', stream_no);
  const numbered = { list: 'verifications', table: 'verifications', number: 'verification_no' } as const;
  const { page, next_cursor } = await newestFirst(query, numbered, { limit: most, cursor });
  return { data: page.filter((row) => isWhole(row, seals)).map(toWire), next_cursor };
}

/** @throws DomainError `not_found` if the check does not exist or was changed outside the service. */
export async function findVerification(reader: Reader, seals: RowSeals, id: string): Promise<WireVerification> {
  const row = await verificationsQuery(reader).where('verification_id', '=', id).executeTakeFirst();
  if (row === undefined || !isWhole(row, seals)) throw new DomainError('not_found', 'no check has this ID');
  return toWire(row);
}

function verificationsQuery(reader: Reader) {
  return reader
    .tables<AuditTables>()
    .selectFrom('verifications')
    .innerJoin('streams', 'streams.stream_no', 'verifications.stream_no')
    .selectAll('verifications')
    .select('stream_id');
}

function isWhole(row: Found, seals: RowSeals): boolean {
  return (
    row.failures_sha256 === hash('sha256', row.failures, 'hex') && row.seal === seals.verification(row, row.stream_id)
  );
}

function toWire(row: Found): WireVerification {
  return {
    ...pick(row, ['verification_id', 'stream_id', 'checked_at', 'entries_checked']),
    ...pick(row, ['from_sequence', 'to_sequence', 'head_hash', 'clock_corrections']),
    verified: row.verified === 1,
    failures: JSON.parse(row.failures) as WireVerification['failures'],
  };
}
