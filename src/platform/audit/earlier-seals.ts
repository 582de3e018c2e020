import { sql } from 'kysely';
import type { WirePackageHead } from '../../core/wire.ts';
import type { Transaction } from '../database/database.ts';
import { lockHeads, moveHeads } from './repository.ts';
import type { CheckpointRow, RowSeals, StoredPackage } from './row-seals.ts';
import type { AuditTables } from './schema.ts';
import { addToTotals } from './totals.ts';

type EarlierCheckpoint = Omit<CheckpointRow, 'stream_no' | 'number' | 'anchored_as' | 'seal'>;
type EarlierPackage = Omit<StoredPackage, 'stream_no' | 'checkpoints' | 'anchored' | 'seal'> & {
  pdf: Uint8Array | null;
};

/** What a checkpoint is counted as. */
type Counted = Pick<CheckpointRow, 'checkpoint_id' | 'number' | 'anchored_as'>;

/** Moves what is sealed in this version, stream by stream, and seals it. */
export async function moveSealed(transaction: Transaction, seals: RowSeals): Promise<void> {
  const { rows } = await sql<{ stream_id: string }>`SELECT stream_id FROM earlier_streams`.execute(
    transaction.tables(),
  );
  const ids = rows.map(({ stream_id }) => stream_id);
  const heads = [...(await lockHeads(transaction, seals, ids, new Date())).values()];
  for (const head of heads) {
    const stream = { stream_no: head.streamNo ?? 0, stream_id: head.streamId };
    const counted = await moveCheckpoints(transaction, seals, stream);
    await movePackages(transaction, seals, stream, counted);
    head.checkpoints = counted.length;
    head.anchored = counted.filter(({ anchored_as }) => anchored_as !== null).length;
  }
  await moveHeads(transaction, seals, heads);
  if (heads.length > 0) await addToTotals(transaction, seals, { streams: heads.length, verified: 0, failed: 0 });
}

interface Stream {
  stream_no: number;
  stream_id: string;
}

/** They are numbered in their order, and their anchors in the order of their times. */
async function moveCheckpoints(
  transaction: Transaction,
  seals: RowSeals,
  { stream_no, stream_id }: Stream,
): Promise<Counted[]> {
  const { rows } = await sql<EarlierCheckpoint>`SELECT ordinal, checkpoint_id, sequence, hash, created_at, status,
    authority, tsa_url, gen_time, token FROM earlier_checkpoints WHERE stream_id = ${stream_id} ORDER BY ordinal`.execute(
    transaction.tables(),
  );
  const times = rows.map(({ gen_time }) => gen_time).filter((time) => time !== null);
  const order = times.toSorted();
  const moved = rows.map((row, index) => {
    const anchored_as = row.gen_time === null ? null : order.indexOf(row.gen_time) + 1;
    // Of two at one time the second is the next.
    if (row.gen_time !== null) order[(anchored_as ?? 1) - 1] = '';
    const numbered = { ...row, stream_no, number: index + 1, anchored_as };
    return { ...numbered, seal: seals.checkpoint(numbered, stream_id) };
  });
  for (const row of moved) await transaction.tables<AuditTables>().insertInto('checkpoints').values(row).execute();
  return moved;
}

/** A package had a copy of its checkpoints: now it says how many there were. */
async function movePackages(
  transaction: Transaction,
  seals: RowSeals,
  { stream_no, stream_id }: Stream,
  counted: readonly Counted[],
): Promise<void> {
  const { rows } = await sql<EarlierPackage>`SELECT package_id, title, created_at, entry_count, first_sequence,
    last_sequence, head, summary, pdf FROM earlier_packages WHERE stream_id = ${stream_id}`.execute(
    transaction.tables(),
  );
  for (const { pdf, ...row } of rows) {
    const { checkpoints: copied, ...head } = JSON.parse(row.head) as WirePackageHead;
    const anchored = new Set(copied.filter(({ anchor }) => anchor.token !== null).map((each) => each.checkpoint_id));
    const all = new Set(copied.map(({ checkpoint_id }) => checkpoint_id));
    const had = counted.filter(({ checkpoint_id }) => all.has(checkpoint_id));
    const stamped = counted.filter(({ checkpoint_id }) => anchored.has(checkpoint_id));
    const changed = {
      ...row,
      head: JSON.stringify(head),
      checkpoints: Math.max(0, ...had.map(({ number }) => number)),
      anchored: Math.max(0, ...stamped.map(({ anchored_as }) => anchored_as ?? 0)),
    };
    const sealed = { ...changed, stream_no, seal: seals.package(changed, stream_id) };
    const pdf_seal = pdf === null ? null : seals.pdf(row.package_id, pdf);
    await transaction
      .tables<AuditTables>()
      .insertInto('packages')
      .values({ ...sealed, pdf, pdf_seal })
      .execute();
  }
}
