import type { Administration } from '../accounts/administration.ts';
import type { Alerts } from '../alerts/api.ts';
import type { AuditLog } from '../audit/api.ts';
import type { Database } from '../database/database.ts';
import type { Outbox } from '../jobs/outbox.ts';
import type { TrustTimes } from './settings.ts';

/** The tools of the service. */
export interface AgentServiceDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  administration: Administration;
  alerts: Pick<Alerts, 'notify'>;
  outbox: Pick<Outbox, 'add'>;
  /** The public address of the platform: this service is `/agents` there. */
  publicUrl: () => string;
  /** Hosts of the inside to which something may be sent. */
  outgoingHosts: readonly string[];
  trustTimes: TrustTimes;
}
