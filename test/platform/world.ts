import { randomBytes } from 'node:crypto';
import { type Administration, byCommand } from '../../src/platform/accounts/administration.ts';
import { recordIn } from '../../src/platform/administration/record.ts';
import type { Alert, Alerts } from '../../src/platform/alerts/alert.ts';
import { type AuditLog, openAuditLog } from '../../src/platform/audit/api.ts';
import { DerivedSealKeys } from '../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../src/platform/audit/sealed-rows.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { Outbox } from '../../src/platform/jobs/outbox.ts';

export const SOMEBODY = byCommand('test');

/** Surroundings of a service: a migrated database, an audit log, messages, alerts, and a clock that tests set. */
export class World {
  readonly database: Database;
  /** Key of the platform. Processes of one platform share it. */
  readonly masterKey: Uint8Array;
  readonly log: AuditLog;
  readonly administration: Administration;
  readonly outbox: Outbox;
  /** Alerts that the service sent, oldest first. */
  readonly alerts: Alert[] = [];
  /** Receives the alerts after they are noted here. */
  notifier: Pick<Alerts, 'notify'> = { notify: async () => 'pending' };
  now = Date.parse('2026-11-22T00:00:00Z');
  /** Makes every write to the audit log fail, before or after its entries are written. */
  fault: 'before' | 'after' | null = null;

  constructor(database: Database, masterKey: Uint8Array = randomBytes(32)) {
    const keys = new DerivedSealKeys(masterKey);
    this.database = database;
    this.masterKey = masterKey;
    this.log = this.#failing(openAuditLog({ keys, seals: new RowSeals(keys.ofRows()), clock: this.clock }));
    this.administration = recordIn(this.log);
    this.outbox = new Outbox(database, this.clock);
  }

  readonly clock = (): Date => new Date(this.now);

  /** Alerts as a service is given them. */
  readonly sender: Pick<Alerts, 'notify'> = {
    notify: (transaction, alert) => {
      this.alerts.push(alert);
      return this.notifier.notify(transaction, alert);
    },
  };

  #failing(log: AuditLog): AuditLog {
    return {
      ...log,
      appendIn: (...words) => this.#faulty(() => log.appendIn(...words)),
      appendAllIn: (...words) => this.#faulty(() => log.appendAllIn(...words)),
    };
  }

  async #faulty<T>(write: () => Promise<T>): Promise<T> {
    if (this.fault === 'before') throw new Error('a fault');
    const written = await write();
    if (this.fault === 'after') throw new Error('a fault');
    return written;
  }
}
