import { workerData } from 'node:worker_threads';
import { serve } from '../../core/threads/serve.ts';
import type { DatabaseAddress, ReadableDatabase } from '../database/database.ts';
import { openForReading } from '../database/open.ts';
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

/** Task for a reader thread, which works apart from the thread that answers and appends. */
export type ReadingTask =
  | { read: 'stream'; streamId: string }
  | { read: 'entries'; query: EntriesQuery }
  | { read: 'stats'; now: Date }
  | { read: 'activity'; now: Date }
  | { read: 'overview' }
  | { read: 'package'; order: PackageOrder }
  | { read: 'package-json'; row: PackageRow }
  | { read: 'package-pdf'; row: PackageRow };

interface ReadingDeps {
  database: ReadableDatabase;
  keys: DerivedSealKeys;
  seals: RowSeals;
}

async function outcomeOf(
  deps: ReadingDeps,
  task: Exclude<ReadingTask, { read: 'package-json' }>,
  signal: AbortSignal,
): Promise<unknown> {
  const { database, seals } = deps;
  switch (task.read) {
    case 'stream':
      return inspectStream(database, deps, task.streamId, signal);
    case 'entries':
      return listEntries(database, task.query, signal);
    case 'stats':
      return database.snapshot((reader) => readStats(reader, seals, task.now));
    case 'activity':
      return readActivity(database, task.now);
    case 'overview':
      return readAuditOverview(database, seals);
    case 'package':
      return settlePackage(database, seals, task.order, signal);
    case 'package-pdf': {
      // Loaded only for printing, because it takes longer to load than everything else.
      const { printPackage } = await import('./printing.ts');
      return printPackage(database, seals, task.row);
    }
  }
}

const { address, masterKey } = workerData as ReaderPlace;
const database = await openForReading(address);
const keys = new DerivedSealKeys(masterKey);
const deps = { database, keys, seals: new RowSeals(keys.ofRows()) };

serve((task: ReadingTask, signal) =>
  // JSON comes in pieces.
  task.read === 'package-json' ? packageJson(database, deps.seals, task.row) : outcomeOf(deps, task, signal),
);
