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
import { SOMEBODY, World } from '../world.ts';

/** Traps in a world. */
export class TrapPlace extends World {
  readonly vault: TrapVault;
  readonly traps: Traps;
  readonly detections: Detections;
  readonly uses: Uses;

  constructor(database: Database, platformKey?: Uint8Array) {
    super(database, platformKey);
    const { clock, log } = this;
    this.notifier = { notify: async () => 'none' };
    this.vault = new TrapVault(this.masterKey);
    const version = new DetectionsVersion(database);
    const deps = { database, clock, log, vault: this.vault, version };
    const channelTruth = async () => () => ({ active: true, reason: 'It is a test.' });
    const publicUrl = () => 'https://evidence.example';
    this.traps = new Traps({ ...deps, places: () => [], publicUrl, channelTruth });
    this.detections = new Detections(deps);
    this.uses = new Uses(
      database,
      {
        log,
        clock,
        alert: (transaction, detection, trap) => this.sender.notify(transaction, alertOf(detection, trap)),
      },
      version,
    );
  }

  /** Makes a web bug. @returns its ids. */
  async trap(more: object = {}): Promise<{ credentialId: string; trapNo: number; token: string }> {
    const input = newTrapSchema.parse({ credential_type: 'web_bug', plant_location: 'wiki', label: 'a bug', ...more });
    const { credential_id, credential } = await this.traps.generate(SOMEBODY, input, undefined);
    const { trap_no } = await findTrap(this.database, credential_id);
    return { credentialId: credential_id, trapNo: trap_no, token: String(credential['token']) };
  }

  /** Returns a use at the clock's time. */
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

  /** Returns the entries of the stream `traps`, oldest first. */
  async entries() {
    return (await this.log.newest(this.database, TRAPS_STREAM, { limit: 10_000 })).reverse();
  }
}
