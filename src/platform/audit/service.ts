import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Tables } from '../store/schema.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import { Appender } from './append.ts';
import { type AnchorFailed, Checkpoints } from './checkpoints.ts';
import { Evidence } from './evidence.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import { EntryPages } from './store.ts';
import { Verifier } from './verify.ts';

/** Everything that the audit service's routes call. */
export interface AuditService {
  database: DatabaseSync;
  db: Kysely<Tables>;
  clock: () => Date;
  appender: Appender;
  verifier: Verifier;
  checkpoints: Checkpoints;
  evidence: Evidence;
}

export interface AuditParts {
  database: DatabaseSync;
  db: Kysely<Tables>;
  keys: DerivedSealKeys;
  authority: TimestampAuthority;
  clock: () => Date;
  onAnchorFailure: AnchorFailed;
}

export function assembleAudit({ database, db, keys, authority, clock, onAnchorFailure }: AuditParts): AuditService {
  const pages = new EntryPages(database);
  const checkpoints = new Checkpoints(db, authority, clock, onAnchorFailure);
  return {
    database,
    db,
    clock,
    checkpoints,
    appender: new Appender(database, keys, clock),
    verifier: new Verifier(database, pages, keys, clock),
    evidence: new Evidence({ database, db, pages, checkpoints, clock }),
  };
}
