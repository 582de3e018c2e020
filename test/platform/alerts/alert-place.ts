import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { ADMINISTRATION_STREAM, recordIn } from '../../../src/platform/administration/record.ts';
import type { AlertedService } from '../../../src/platform/alerts/alert.ts';
import { type AlertService, assembleAlerts } from '../../../src/platform/alerts/service.ts';
import { newAlertChannelSchema } from '../../../src/platform/alerts/wire.ts';
import { type AuditLog, openAuditLog } from '../../../src/platform/audit/api.ts';
import { DerivedSealKeys } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import { Outbox } from '../../../src/platform/jobs/outbox.ts';
import type { OutgoingMail } from '../../../src/platform/mail/mail.ts';

export const MINUTE = 60_000;
const SOMEBODY = byCommand('test');

export interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Something that takes webhooks, or refuses them. */
class Receiver {
  readonly received: Received[] = [];
  status = 204;
  attempts = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      this.attempts++;
      const body = (await request.toArray()).join('');
      if (this.status === 204) this.received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(this.status).end();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((done) => this.#server.close(() => done()));
  }
}

/** Alerts on a database, and who receives them. */
export class AlertPlace {
  readonly database: Database;
  readonly alerts: AlertService;
  readonly outbox: Outbox;
  readonly receiver: Receiver;
  /** Where it listens. */
  readonly host: string;
  readonly mails: OutgoingMail[] = [];
  readonly #log: AuditLog;
  readonly #clock: () => Date;

  private constructor(
    database: Database,
    clock: () => Date,
    { receiver, host, masterKey }: { receiver: Receiver; host: string; masterKey: Uint8Array },
  ) {
    const keys = new DerivedSealKeys(masterKey);
    this.#log = openAuditLog({ keys, seals: new RowSeals(keys.ofRows()), clock });
    this.#clock = clock;
    this.database = database;
    this.receiver = receiver;
    this.host = host;
    this.outbox = new Outbox(database, clock);
    this.alerts = assembleAlerts({
      database,
      clock,
      masterKey,
      outbox: this.outbox,
      administration: recordIn(this.#log),
      outgoingHosts: [host],
      publicUrl: () => 'https://evidence.example',
    });
  }

  static async open(
    database: Database,
    clock: () => Date,
    masterKey: Uint8Array = randomBytes(32),
  ): Promise<AlertPlace> {
    const receiver = new Receiver();
    return new AlertPlace(database, clock, { receiver, host: await receiver.listen(), masterKey });
  }

  close(): Promise<void> {
    return this.receiver.close();
  }

  /** A channel: a webhook to the receiver, unless said. */
  add(more: object = {}) {
    const input = { kind: 'webhook', name: 'here', target: `http://${this.host}/hook`, ...more };
    return this.alerts.channels.add(SOMEBODY, newAlertChannelSchema.parse(input));
  }

  async remove(alertChannelId: string): Promise<void> {
    await this.alerts.channels.remove(SOMEBODY, alertChannelId);
  }

  /** Delivers what a service tells. */
  deliveryFor(alerted: AlertedService): OutboxDelivery {
    const mail = { to: 'here', send: async (each: OutgoingMail) => void this.mails.push(each), close: () => {} };
    const sends = [...this.alerts.sends(mail, alerted), ...this.alerts.sendsTests(mail)];
    return new OutboxDelivery(this.database, {
      clock: this.#clock,
      deliveries: new Map(sends.map(([kind, { deliver }]) => [kind, deliver])),
      notes: new Map(sends.map(([kind, { note }]) => [kind, note])),
      random: () => 0.5,
    });
  }

  /** What the webhooks say that the receiver took. */
  told() {
    return this.receiver.received.map(({ body }) => JSON.parse(body));
  }

  /** Acts, oldest first. */
  async acts() {
    return (await this.#log.newest(this.database, ADMINISTRATION_STREAM, { limit: 100 })).reverse();
  }
}
