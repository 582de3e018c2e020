import { hash } from 'node:crypto';
import { batches } from '../database/batches.ts';
import type { Reader } from '../database/database.ts';
import type { StatedStamp } from '../timestamp/exchange.ts';
import { checkpointPages } from './checkpoint-rows.ts';
import type { StreamName } from './entry-rows.ts';
import type { CheckpointRow, RowSeals, SealedHead, StoredPackage, VerificationRow } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';
import type { Faults } from './walk.ts';

/** Number of checks read without yielding to other requests. */
const PAGE_ROWS = 50;

interface RowChecks {
  reader: Reader;
  seals: RowSeals;
  stream: StreamName;
  head: SealedHead;
  faults: Faults;
  signal: AbortSignal;
}

/**
 * Checks that every checkpoint and every anchor that the head counts exists, and that every checkpoint is as this service
 * wrote it.
 */
export async function checkCheckpoints({ reader, seals, stream, head, faults, signal }: RowChecks): Promise<void> {
  const { checkpoints, anchored, sequence } = head;
  const gaps = new Gaps('checkpoint_missing', faults);
  let anchors = 0;
  for await (const rows of checkpointPages(reader, stream)) {
    for (const row of rows) {
      // Ignores a checkpoint that was added after the head was read.
      if (row.number <= checkpoints) gaps.pass(row.number, row.sequence);
      if (row.number <= checkpoints && row.anchored_as !== null && row.anchored_as <= anchored) anchors++;
      faults.compareSeal('checkpoint_seal_mismatch', row.sequence, seals.checkpoint(row, stream.stream_id), row.seal);
      if (row.token !== null) await checkToken(row, row.token, faults);
      signal.throwIfAborted();
    }
  }
  gaps.pass(checkpoints + 1, sequence);
  if (anchors !== anchored) faults.fail('anchor_missing', sequence, `${anchored}`, `${anchors}`);
}

/** Checks that a token matches the statements of its row, including the kind of authority. */
async function checkToken(row: CheckpointRow, token: Uint8Array, faults: Faults): Promise<void> {
  // Loaded only if there are checkpoints, because loading takes a fifth of a second.
  const { readStamp } = await import('../timestamp/exchange.ts');
  faults.compare('checkpoint_token_mismatch', row.sequence, told(row), stated(readStamp(token)));
}

function told({ hash, gen_time, authority }: CheckpointRow): string {
  return `${hash} ${gen_time} ${authority}`;
}

function stated(stamp: StatedStamp | null): string | null {
  if (stamp === null) return null;
  const { imprint, genTime, isDevelopment } = stamp;
  return `${imprint} ${genTime.toISOString()} ${isDevelopment ? 'development' : 'external'}`;
}

/** Checks that every check that the head counts exists, and that every recorded check is as this service wrote it. */
export async function checkVerifications({ reader, seals, stream, head, faults, signal }: RowChecks): Promise<void> {
  const { verifications, sequence } = head;
  const gaps = new Gaps('verification_missing', faults);
  for await (const rows of verificationPages(reader, stream)) {
    for (const row of rows) {
      // Ignores a check that was added after the head was read.
      if (row.number <= verifications) gaps.pass(row.number, sequence);
      const isWhole = row.failures_sha256 === hash('sha256', row.failures, 'hex');
      if (!isWhole || row.seal !== seals.verification(row, stream.stream_id))
        faults.fail('verification_seal_mismatch', sequence, null, row.verification_id);
    }
    signal.throwIfAborted();
  }
  gaps.pass(verifications + 1, sequence);
}

/** Checks that every package that the head counts exists, and that every package is as this service wrote it. */
export async function checkPackages({ reader, seals, stream, head, faults, signal }: RowChecks): Promise<void> {
  const gaps = new Gaps('package_missing', faults);
  for await (const rows of packagePages(reader, stream)) {
    for (const row of rows) {
      if (row.number <= head.packages) gaps.pass(row.number, head.sequence);
      if (row.seal !== seals.package(row, stream.stream_id))
        faults.fail('package_seal_mismatch', head.sequence, null, row.package_id);
    }
    signal.throwIfAborted();
  }
  gaps.pass(head.packages + 1, head.sequence);
}

/** Yields packages by number. */
function packagePages(reader: Reader, { stream_no }: StreamName): AsyncGenerator<NumberedPackage[]> {
  const packages = reader.tables<AuditTables>().selectFrom('packages').where('stream_no', '=', stream_no);
  const sorted = packages.select(STORED_PACKAGE).orderBy('number').orderBy('package_id').limit(PAGE_ROWS);
  return batches(
    { number: Number.MIN_SAFE_INTEGER, package_id: '' },
    ({ number, package_id }) => ({ number, package_id }),
    ({ number, package_id }) =>
      sorted
        .where(({ eb, refTuple, tuple }) => eb(refTuple('number', 'package_id'), '>', tuple(number, package_id)))
        .execute(),
  );
}

type NumberedPackage = Pick<StoredPackage, (typeof STORED_PACKAGE)[number]>;

const STORED_PACKAGE = [
  'package_id',
  'number',
  'title',
  'created_at',
  'entry_count',
  'first_sequence',
  'last_sequence',
  'checkpoints',
  'anchored',
  'head',
  'summary',
  'seal',
] as const;

/** Yields checks by number; checks with the same number are in insertion order. */
function verificationPages(reader: Reader, { stream_no }: StreamName): AsyncGenerator<VerificationRow[]> {
  const all = reader.tables<AuditTables>().selectFrom('verifications').selectAll().where('stream_no', '=', stream_no);
  const sorted = all.orderBy('number').orderBy('verification_no').limit(PAGE_ROWS);
  return batches(
    { number: Number.MIN_SAFE_INTEGER, verification_no: 0 },
    ({ number, verification_no }) => ({ number, verification_no }),
    ({ number, verification_no }) =>
      sorted
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple('number', 'verification_no'), '>', tuple(number, verification_no)),
        )
        .execute(),
  );
}

/** Reports gaps in rows that are numbered from 1. */
class Gaps {
  readonly #code: string;
  readonly #faults: Faults;
  #due = 1;

  constructor(code: string, faults: Faults) {
    this.#code = code;
    this.#faults = faults;
  }

  /** @param number of the next row, in order. @param sequence at which missing rows before it are reported. */
  pass(number: number, sequence: number): void {
    const missing = number - 1 === this.#due ? `${this.#due}` : `${this.#due}-${number - 1}`;
    if (this.#due < number) this.#faults.fail(this.#code, sequence, missing, null);
    this.#due = Math.max(this.#due, number + 1);
  }
}
