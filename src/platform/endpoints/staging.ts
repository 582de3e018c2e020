import { sha256 } from '../../core/digest.ts';
import { canonicalLine, type EndpointLine, faultInLine, pathBytes } from '../../sensor/report/line.ts';
import { MerkleTree } from '../../sensor/report/merkle.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError, invalidField } from '../errors.ts';
import type { Job } from '../jobs/scheduler.ts';
import { rowInserter } from '../rows.ts';
import { endpointRow } from './host-rows.ts';
import {
  Chunking,
  type LineChunk,
  linesToBytes,
  type NewLineSet,
  packLines,
  pathOfText,
  textsOf,
} from './lines/line-sets.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';

/** Age at which an incomplete report is deleted. */
const KEPT_MS = 24 * 60 * 60_000;
const TIDY_MS = 60 * 60_000;

/** Part of the lines of a scan or a baseline. */
interface LinePart {
  endpointNo: number;
  kind: EndpointTables['staged_sets']['kind'];
  /** Hex SHA-256 of the data that all its parts share. */
  headSha256: string;
  part: number;
  parts: number;
  lines: readonly EndpointLine[];
}

/**
 * Receives a part. A set with a single part is not staged.
 * @returns the number of the next part, or all lines once they have arrived; staged parts stay until `unstage`.
 * @throws DomainError `part_out_of_order` with the number of the next part; `invalid_request` for an invalid line.
 */
export async function takePart(
  database: Database,
  now: Date,
  given: LinePart,
): Promise<{ next_part: number } | NewLineSet> {
  const { part, parts, kind } = given;
  if (part > parts) throw invalidField('part', `must not exceed parts (${parts})`);
  const texts = canonicalTexts(given.lines);
  if (parts === 1) return gather(database, given, texts);
  const bytes = linesToBytes(texts);
  const partSha256 = sha256(bytes);
  const isLast = await database.write(async (transaction) => {
    await endpointRow(transaction, given.endpointNo);
    const staged = await stagedSet(transaction, given);
    const isSame = staged?.head_sha256 === given.headSha256;
    const taken = isSame ? staged.part : 0;
    if (isSame && part === taken && partSha256 === staged.part_sha256) return false;
    if (part !== taken + 1) throw outOfOrder(kind, part, taken + 1);
    if (part === parts) return true;
    await stage(transaction, given, { bytes, partSha256, now });
    return false;
  });
  return isLast ? gather(database, given, texts) : { next_part: part + 1 };
}

/** Deletes the staged parts of an endpoint. */
export async function unstage(
  transaction: Transaction,
  { endpointNo, kind }: Pick<LinePart, 'endpointNo' | 'kind'>,
): Promise<void> {
  for (const table of ['staged_parts', 'staged_sets'] as const)
    await transaction
      .tables<EndpointTables>()
      .deleteFrom(table)
      .where('endpoint_no', '=', endpointNo)
      .where('kind', '=', kind)
      .execute();
}

/** Returns the job that deletes old incomplete sets. */
export function stagingJob(database: Database, clock: () => Date): Job {
  return {
    name: 'endpoints/staging',
    everyMs: TIDY_MS,
    atMostMs: TIDY_MS,
    run: () =>
      database.write(async (transaction) => {
        const sets = transaction.tables<EndpointTables>().selectFrom('staged_sets').select(['endpoint_no', 'kind']);
        const begun = new Date(clock().getTime() - KEPT_MS).toISOString();
        for (const { endpoint_no, kind } of await sets.where('begun_at', '<=', begun).execute())
          await unstage(transaction, { endpointNo: endpoint_no, kind });
      }),
  };
}

/** @throws DomainError `invalid_request` for the first invalid line. */
function canonicalTexts(lines: readonly EndpointLine[]): string[] {
  let last: Buffer | null = null;
  return lines.map((line, at) => {
    const fault = faultInLine(line);
    if (fault !== null) throw new DomainError('invalid_request', `lines.${at}: ${fault}`);
    const path = pathBytes(line);
    if (last !== null && last.compare(path) >= 0)
      throw new DomainError(
        'invalid_request',
        `lines.${at}: does not sort after the previous line, by the bytes of its path`,
      );
    last = path;
    return canonicalLine(line);
  });
}

function stagedSet(transaction: Transaction, { endpointNo, kind }: LinePart) {
  const sets = transaction.tables<EndpointTables>().selectFrom('staged_sets').selectAll();
  const own = sets.where('endpoint_no', '=', endpointNo).where('kind', '=', kind);
  return own.modifyEnd(transaction.sql.locked).executeTakeFirst();
}

const insertSet = rowInserter(ENDPOINT_TABLES, 'staged_sets');

async function stage(
  transaction: Transaction,
  given: LinePart,
  { bytes, partSha256, now }: { bytes: Uint8Array; partSha256: string; now: Date },
): Promise<void> {
  const { endpointNo: endpoint_no, kind, part } = given;
  const tables = transaction.tables<EndpointTables>();
  if (part === 1) {
    await unstage(transaction, given);
    const begun = { endpoint_no, kind, head_sha256: given.headSha256, begun_at: now.toISOString() };
    await insertSet(transaction, { ...begun, part, part_sha256: partSha256 });
  } else {
    const sets = tables.updateTable('staged_sets').set({ part, part_sha256: partSha256 });
    await sets.where('endpoint_no', '=', endpoint_no).where('kind', '=', kind).execute();
  }
  await tables
    .insertInto('staged_parts')
    .values({ endpoint_no, kind, part, lines: packLines(bytes) })
    .execute();
}

/**
 * Reads all lines, hashes them and splits them into chunks, one part at a time; the lines of each part are already
 * sorted.
 */
async function gather(database: Database, given: LinePart, lastTexts: readonly string[]): Promise<NewLineSet> {
  const root = new MerkleTree();
  const chunking = new Chunking();
  const chunks: (LineChunk | null)[] = [];
  let last: Buffer | null = null;
  for (let part = 1; part <= given.parts; part++) {
    const texts = part === given.parts ? lastTexts : await stagedTexts(database, given, part);
    const [first, end] = [texts[0], texts.at(-1)];
    if (first === undefined || end === undefined) continue;
    if (last !== null && last.compare(pathOfText(first)) >= 0)
      throw new DomainError(
        'invalid_request',
        `lines.0: part ${part} does not sort after the end of the previous part`,
      );
    last = pathOfText(end);
    for (const text of texts) {
      root.add(text);
      chunks.push(chunking.add(text));
    }
  }
  chunks.push(chunking.end());
  return { root_hash: root.root(), line_count: root.size, chunks: chunks.filter((chunk) => chunk !== null) };
}

async function stagedTexts(database: Database, { endpointNo, kind }: LinePart, part: number): Promise<string[]> {
  const row = await database
    .tables<EndpointTables>()
    .selectFrom('staged_parts')
    .select('lines')
    .where('endpoint_no', '=', endpointNo)
    .where('kind', '=', kind)
    .where('part', '=', part)
    .executeTakeFirst();
  if (row === undefined) throw outOfOrder(kind, part + 1, 1);
  return textsOf(row);
}

function outOfOrder(kind: LinePart['kind'], part: number, next: number): DomainError {
  const why =
    next === 1 ? `no part of this ${kind} has arrived` : `only parts up to ${next - 1} of this ${kind} have arrived`;
  return new DomainError('part_out_of_order', `part ${part} is out of order: ${why}; send part ${next}`, {
    next_part: next,
  });
}
