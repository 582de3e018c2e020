import type { Database } from '../database/database.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import { Appender } from './appender.ts';
import { type AnchorFailed, Checkpoints } from './checkpoints.ts';
import { Evidence } from './evidence.ts';
import { ReaderThreads } from './reader-threads.ts';
import { RowSeals } from './row-seals.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import { Verifier } from './verify.ts';

/** Everything that the audit service's routes call. */
export interface AuditService {
  database: Database;
  seals: RowSeals;
  clock: () => Date;
  appender: Appender;
  verifier: Verifier;
  checkpoints: Checkpoints;
  evidence: Evidence;
  readers: ReaderThreads;
}

export interface AuditParts {
  database: Database;
  keys: DerivedSealKeys;
  authority: TimestampAuthority;
  clock: () => Date;
  onAnchorFailure: AnchorFailed;
}

export function assembleAudit({ database, keys, authority, clock, onAnchorFailure }: AuditParts): AuditService {
  const seals = new RowSeals(keys.ofRows());
  const deps = { database, seals, clock };
  const readers = new ReaderThreads(database, keys);
  return {
    ...deps,
    readers,
    checkpoints: new Checkpoints({ ...deps, authority, onFailure: onAnchorFailure }),
    appender: new Appender(database, { keys, seals, clock }),
    verifier: new Verifier({ ...deps, inspect: (streamId, signal) => readers.inspect(streamId, signal) }),
    evidence: new Evidence({
      ...deps,
      settle: (order, signal) => readers.settle(order, signal),
      print: (row, signal) => readers.print(row, signal),
    }),
  };
}
