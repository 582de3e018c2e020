import { workerData } from 'node:worker_threads';
import { serve } from '../../core/threads/serve.ts';
import type { DatabaseAddress } from '../database/database.ts';
import { openForReading } from '../database/open.ts';
import { RowSealer } from '../database/row-sealer.ts';
import { readZone } from './entry-index.ts';
import { HeadsCheck } from './heads-check.ts';
import { inspectStream } from './inspection.ts';
import { listEntries } from './list.ts';
import { type PackageOrder, type PackageRow, packageJson, settlePackage } from './packing.ts';
import { DerivedSealKeys } from './seal-keys.ts';
import { RowSeals } from './sealed-rows.ts';
import { readActivity, readAuditOverview, readStats } from './stats.ts';
import type { EntriesQuery } from './wire.ts';

/** Data that a reader thread starts with. */
export interface ReaderPlace {
  address: DatabaseAddress;
  masterKey: Uint8Array;
}

const { address, masterKey } = workerData as ReaderPlace;
const keys = new DerivedSealKeys(masterKey);
const database = await openForReading(address, new RowSealer(keys.ofRows()));
const seals = new RowSeals(keys.ofRows());
const heads = new HeadsCheck(database, seals);

/** Reads of a reader thread, which works apart from the thread that answers and appends. */
const READS = {
  inspect: (id: string, signal: AbortSignal) => inspectStream(database, { keys, seals, heads }, id, signal),
  entries: (query: EntriesQuery, signal: AbortSignal) => listEntries(database, query, signal),
  zone: (zone: number) => database.snapshot((reader) => readZone(reader, zone)),
  stats: (now: Date) => database.snapshot((reader) => readStats(reader, seals, now)),
  activity: (now: Date) => readActivity(database, now),
  overview: (now: Date) => readAuditOverview(database, seals, now),
  settle: (order: PackageOrder, signal: AbortSignal) => settlePackage(database, seals, order, signal),
  json: (row: PackageRow) => packageJson(database, seals, row),
  async print(row: PackageRow) {
    // Loaded only for printing, because it takes longer to load than everything else.
    const { printPackage } = await import('./printing.ts');
    return printPackage(database, seals, row);
  },
};

export type Reads = typeof READS;

/** Task for a reader thread: the name of a read, and what it is of. */
export interface ReadingTask {
  read: keyof Reads;
  of?: unknown;
}

serve(({ read, of }: ReadingTask, signal) => READS[read](of as never, signal));
