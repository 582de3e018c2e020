import type { Database } from '../../../src/platform/database/database.ts';
import type { EndpointDeps } from '../../../src/platform/endpoints/deps.ts';
import { streamOf } from '../../../src/platform/endpoints/enums.ts';
import { assembleEndpoints, type EndpointService } from '../../../src/platform/endpoints/service.ts';
import { stagingJob } from '../../../src/platform/endpoints/staging.ts';
import { staleJob } from '../../../src/platform/endpoints/stale.ts';
import { eventQuerySchema } from '../../../src/platform/endpoints/wire/events.ts';
import { enrolmentSchema } from '../../../src/platform/endpoints/wire/hosts.ts';
import { scanReportSchema } from '../../../src/platform/endpoints/wire/reports.ts';
import type { Actor } from '../../../src/platform/http/principal.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';
import type { BaitTraps } from '../../../src/platform/traps/api.ts';
import type { EndpointLine } from '../../../src/sensor/report/line.ts';
import type { DatabasePlace } from '../database/databases.ts';
import { SOMEBODY, World } from '../world.ts';
import { partOf, SensorDouble, type SentReport } from './sensor-double.ts';

/** Bait is tested with the platform's traps. */
const NO_TRAPS = {} as BaitTraps;
export const HOUR = 60 * 60_000;

/** Returns a signed-in person. */
export function person(name: string): Actor {
  return { name: `person:${name}`, scopes: SOMEBODY.scopes };
}

/** Service of endpoints in a world. */
export class EndpointPlace extends World {
  readonly deps: EndpointDeps;
  readonly service: EndpointService;
  approvers = 1;
  #databases: DatabasePlace | null = null;

  /** Creates a database, which `close` ends. */
  static async open(start: () => Promise<DatabasePlace>): Promise<EndpointPlace> {
    const databases = await start();
    const { database } = await databases.createMigrated();
    const place = new EndpointPlace(database);
    place.#databases = databases;
    return place;
  }

  constructor(database: Database) {
    super(database);
    const { clock, log, administration } = this;
    this.deps = {
      database,
      clock,
      log,
      administration,
      alerts: this.sender,
      approvers: async () => this.approvers,
    };
    this.service = assembleEndpoints({
      ...this.deps,
      baitTraps: NO_TRAPS,
      baitBox: new SecretBox(this.masterKey, 'endpoints/bait'),
    });
  }

  async close(): Promise<void> {
    await this.#databases?.close();
  }

  /** Enrolls an endpoint whose sensor has bound its key. */
  async enrolled(more: object = {}): Promise<Reporter> {
    const input = enrolmentSchema.parse({ name: 'host', ...more });
    const { endpoint_id } = await this.service.hosts.enroll(SOMEBODY, input, undefined);
    const sensor = new SensorDouble(endpoint_id);
    await this.bind(sensor);
    return new Reporter(this, sensor);
  }

  async bind(sensor: SensorDouble): Promise<void> {
    const { sensors } = this.service;
    const { next } = await sensors.settings(sensor.endpointId);
    await sensors.bindKey(sensor.endpointId, sensor.proof(next));
  }

  async events(query: object = {}) {
    return (await this.service.events.list(eventQuerySchema.parse({ limit: 500, ...query }))).data;
  }

  stale(): Promise<void> {
    return staleJob(this.deps).run();
  }

  tidy(): Promise<void> {
    return stagingJob(this.database, this.deps.clock).run();
  }

  /** Returns the entries of an endpoint's stream, oldest first. */
  async entries(endpointId: string) {
    return (await this.deps.log.newest(this.database, streamOf(endpointId), { limit: 10_000 })).reverse();
  }
}

/** An endpoint that reports. */
export class Reporter {
  readonly at: EndpointPlace;
  readonly sensor: SensorDouble;

  constructor(at: EndpointPlace, sensor: SensorDouble) {
    this.at = at;
    this.sensor = sensor;
  }

  get id(): string {
    return this.sensor.endpointId;
  }

  /** Makes a report of lines that continues the chain. */
  async made(lines: readonly EndpointLine[], more: object = {}): Promise<SentReport> {
    const { next } = await this.at.service.sensors.settings(this.id);
    return this.sensor.report(next, lines, this.at.now, more);
  }

  /** Sends all parts. @returns the answer to the last one. */
  async send(report: SentReport) {
    for (let part = 1; ; part++) {
      const answer = await this.part(report, part);
      if ('taken' in answer) return answer.taken;
    }
  }

  part(report: SentReport, part = 1) {
    return this.body(partOf(report, part));
  }

  body(body: object) {
    return this.at.service.reports.take(this.id, scanReportSchema.parse(body));
  }

  async reports(lines: readonly EndpointLine[], more: object = {}) {
    return this.send(await this.made(lines, more));
  }

  /** Reports lines that become the baseline. */
  async baseline(lines: readonly EndpointLine[]) {
    await this.reports(lines);
    return this.approved();
  }

  /** Approves the last scan as the baseline. */
  async approved() {
    const { baselines } = this.at.service;
    const input = { from: 'latest_scan', name: 'a baseline', reason: 'it is new' } as const;
    const { baseline_id } = await baselines.propose(SOMEBODY, this.id, input);
    return baselines.approve(SOMEBODY, baseline_id, { reason: 'looked at' });
  }

  /** Returns unresolved events. */
  async open() {
    return (await this.at.events({ endpoint_id: this.id })).filter(({ resolved_at }) => resolved_at === null);
  }
}
