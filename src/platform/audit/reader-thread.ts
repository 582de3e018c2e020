import { workerData } from 'node:worker_threads';
import { openForReading } from '../database/open.ts';
import { serveTasks } from '../threads/serving.ts';
import { performReading, type ReaderPlace, type ReadingTask } from './reading-tasks.ts';
import { RowSeals } from './row-seals.ts';
import { DerivedSealKeys } from './seal-keys.ts';

const { address, masterKey } = workerData as ReaderPlace;
const database = await openForReading(address);
const keys = new DerivedSealKeys(masterKey);
const deps = { database, keys, seals: new RowSeals(keys.ofRows()) };

serveTasks(
  (task: ReadingTask, signal) => performReading(deps, task, signal),
  () => database.close(),
);
