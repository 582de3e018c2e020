import type { Database } from '../database/database.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import { Appender } from './appender.ts';
import { type AnchorFailed, Checkpoints } from './checkpoints.ts';
import { Evidence } from './evidence.ts';
import { EntryPages } from './pages.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import { Verifier } from './verify.ts';

/** Everything that the audit service's routes call. */
export interface AuditService {
  database: Database;
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
  const pages = new EntryPages(database);
  const checkpoints = new Checkpoints(database, authority, clock, onAnchorFailure);
  return {
    database,
    clock,
    checkpoints,
    appender: new Appender(database, { keys, clock }),
    verifier: new Verifier(database, pages, keys, clock),
    evidence: new Evidence({ database, pages, checkpoints, clock }),
  };
}
