import { randomBytes } from 'node:crypto';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import type { Alerts } from '../../../src/platform/alerts/alert.ts';
import { type AuditLog, openAuditLog } from '../../../src/platform/audit/api.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { alertOf } from '../../../src/platform/traps/alerting.ts';
import { Detections, DetectionsVersion } from '../../../src/platform/traps/detections.ts';
import { TRAPS_STREAM } from '../../../src/platform/traps/enums.ts';
import { Uses } from '../../../src/platform/traps/recording.ts';
import { findTrap } from '../../../src/platform/traps/repository.ts';
import { Traps } from '../../../src/platform/traps/traps.ts';
import type { TrapUse } from '../../../src/platform/traps/use.ts';
import { TrapVault } from '../../../src/platform/traps/vault.ts';
import { detectionQuerySchema, newTrapSchema } from '../../../src/platform/traps/wire.ts';

export const SOMEBODY = byCommand('test');

/** Traps on a database, with a clock to be set. */
export class TrapPlace {
  readonly database: Database;
  /** Another process of the same platform has the same one. */
  readonly masterKey: Uint8Array;
  readonly log: AuditLog;
  readonly vault: TrapVault;
  readonly traps: Traps;
  readonly detections: Detections;
  readonly uses: Uses;
  now = Date.parse('2026-11-22T00:00:00Z');
  /** Has every recording fail once its entries are written. */
  fault = false;
  /** Nobody is told, unless said. */
  alerts: Pick<Alerts, 'notify'> = { notify: async () => 'none' };

  constructor(database: Database, masterKey: Uint8Array = randomBytes(32)) {
    this.database = database;
    this.masterKey = masterKey;
    const clock = () => new Date(this.now);
    const keys = new DerivedSealKeys(masterKey);
    const log = openAuditLog({ keys, seals: new RowSeals(keys.ofRows()), clock });
    this.log = {
      ...log,
      appendIn: async (transaction, streamId, entries) => {
        const places = await log.appendIn(transaction, streamId, entries);
        if (this.fault) throw new Error('a fault');
        return places;
      },
    };
    this.vault = new TrapVault(masterKey);
    const version = new DetectionsVersion(database);
    const deps = { database, clock, log: this.log, vault: this.vault, version };
    const channelTruth = async () => () => ({ active: true, reason: 'It is a test.' });
    const publicUrl = () => 'https://evidence.example';
    this.traps = new Traps({ ...deps, places: () => [], publicUrl, channelTruth });
    this.detections = new Detections(deps);
    this.uses = new Uses(
      database,
      {
        log: this.log,
        clock,
        alert: (transaction, detection, trap) => this.alerts.notify(transaction, alertOf(detection, trap)),
      },
      version,
    );
  }

  /** A new web bug. @returns its ids. */
  async trap(more: object = {}): Promise<{ credentialId: string; trapNo: number; token: string }> {
    const input = newTrapSchema.parse({ credential_type: 'web_bug', plant_location: 'wiki', label: 'a bug', ...more });
    const { credential_id, credential } = await this.traps.generate(SOMEBODY, input, undefined);
    const { trap_no } = await findTrap(this.database, credential_id);
    return { credentialId: credential_id, trapNo: trap_no, token: String(credential['token']) };
  }

  /** A use, at the time of the clock. */
  use(trapNo: number, more: Partial<TrapUse> = {}): TrapUse {
    return {
      trapNo,
      channel: 'http',
      depth: 'read',
      eventTime: new Date(this.now).toISOString(),
      sourceEventId: null,
      sourceIp: '203.0.113.9',
      userAgent: 'curl/8',
      action: 'GET /x.gif',
      service: 'http',
      region: null,
      authVerified: null,
      request: 'GET /x.gif HTTP/1.1\r\n\r\n',
      ...more,
    };
  }

  async found(query: object = {}) {
    return (await this.detections.list(detectionQuerySchema.parse({ limit: 500, ...query }))).data;
  }

  /** What the stream `traps` says, oldest first. */
  async entries() {
    return (await this.log.newest(this.database, TRAPS_STREAM, { limit: 10_000 })).reverse();
  }
}
