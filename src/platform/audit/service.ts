import type { Database } from '../database/database.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import { Appender } from './appender.ts';
import { type AnchorFailed, Checkpoints } from './checkpoints.ts';
import { Evidence } from './evidence.ts';
import { inspectStream } from './inspection.ts';
import { settlePackage } from './packing.ts';
import { printPackage } from './printing.ts';
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
  const means = { database, seals, clock };
  return {
    ...means,
    checkpoints: new Checkpoints({ ...means, authority, onFailure: onAnchorFailure }),
    appender: new Appender(database, { keys, seals, clock }),
    verifier: new Verifier({
      ...means,
      inspect: (streamId, signal) => inspectStream(database, { keys, seals }, streamId, signal),
    }),
    evidence: new Evidence({
      ...means,
      make: (order, signal) => settlePackage(database, seals, order, signal),
      print: (row) => printPackage(database, seals, row),
    }),
  };
}
