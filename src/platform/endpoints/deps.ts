import type { Administration } from '../accounts/api.ts';
import type { Alerts } from '../alerts/api.ts';
import type { AuditLog } from '../audit/api.ts';
import type { Database, Reader } from '../database/database.ts';
import type { SecretBox } from '../secrets.ts';
import type { BaitTraps } from '../traps/api.ts';

/** Dependencies for bait. */
export interface BaitDeps extends EndpointDeps {
  baitTraps: BaitTraps;
  /** Seals the content that is to be planted. */
  baitBox: SecretBox;
}

/** Dependencies of the service. */
export interface EndpointDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  administration: Administration;
  alerts: Pick<Alerts, 'notify'>;
  /** Returns the number of people who may approve a baseline. */
  approvers(reader: Reader): Promise<number>;
}
