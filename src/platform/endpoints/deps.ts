import type { Administration } from '../accounts/api.ts';
import type { Alerts } from '../alerts/api.ts';
import type { AuditLog } from '../audit/api.ts';
import type { Database, Reader } from '../database/database.ts';
import type { SecretBox } from '../secrets.ts';
import type { BaitTraps } from '../traps/api.ts';
import type { KnownFiles } from './packages/known-files.ts';

/** Further tools, for bait. */
export interface BaitDeps extends EndpointDeps {
  baitTraps: BaitTraps;
  /** Keeps what is to be planted. */
  baitBox: SecretBox;
}

/** The tools of the service. */
export interface EndpointDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  administration: Administration;
  knownFiles: KnownFiles;
  alerts: Pick<Alerts, 'notify'>;
  /** Counts the people who may approve a baseline. */
  approvers(reader: Reader): Promise<number>;
}
