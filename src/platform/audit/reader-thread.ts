import { workerData } from 'node:worker_threads';
import type { DatabaseAddress, ReadableDatabase } from '../database/database.ts';
import { openForReading } from '../database/open.ts';
import { serveTasks } from '../threads/serving.ts';
import { inspectStream } from './inspection.ts';
import { listEntries } from './list.ts';
import { type PackageOrder, type PackageRow, packageJson, settlePackage } from './packing.ts';
import { RowSeals } from './row-seals.ts';
import { DerivedSealKeys } from './seal-keys.ts';
import { readActivity, readAuditOverview, readStats } from './stats.ts';
import type { EntriesQuery } from './wire.ts';

/** The data that a thread that reads is started with. */
export interface ReaderPlace {
  address: DatabaseAddress;
  masterKey: Uint8Array;
}

/** A task for a thread beside the one that answers and appends. */
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

/** Yields what a task leads to: one value, or a package's JSON in pieces. */
async function* performReading(deps: ReadingDeps, task: ReadingTask, signal: AbortSignal): AsyncGenerator<unknown> {
  const { database, seals } = deps;
  switch (task.read) {
    case 'stream':
      yield await inspectStream(database, deps, task.streamId, signal);
      return;
    case 'entries':
      yield await listEntries(database, task.query, signal);
      return;
    case 'stats':
      yield await database.snapshot((reader) => readStats(reader, seals, task.now));
      return;
    case 'activity':
      yield await readActivity(database, task.now);
      return;
    case 'overview':
      yield await readAuditOverview(database, seals);
      return;
    case 'package':
      yield await settlePackage(database, seals, task.order, signal);
      return;
    case 'package-json':
      yield* packageJson(database, seals, task.row);
      return;
    case 'package-pdf': {
      // Loaded by those who print: it takes longer than all else.
      const { printPackage } = await import('./printing.ts');
      yield await printPackage(database, seals, task.row);
    }
  }
}

const { address, masterKey } = workerData as ReaderPlace;
const database = await openForReading(address);
const keys = new DerivedSealKeys(masterKey);
const deps = { database, keys, seals: new RowSeals(keys.ofRows()) };

serveTasks(
  (task: ReadingTask, signal) => performReading(deps, task, signal),
  () => database.close(),
);
