import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ADMINISTRATION_STREAM } from '../../../src/platform/accounts/api.ts';
import type { AlertedService } from '../../../src/platform/alerts/alert.ts';
import { type AlertService, assembleAlerts } from '../../../src/platform/alerts/service.ts';
import { newAlertChannelSchema } from '../../../src/platform/alerts/wire.ts';
import { OutboxDelivery } from '../../../src/platform/jobs/delivery.ts';
import type { OutgoingMail } from '../../../src/platform/mail/mail.ts';
import { SOMEBODY, type World } from '../world.ts';

export const MINUTE = 60_000;

export interface Received {
  headers: Record<string, string>;
  body: string;
}

/** A receiver that accepts or refuses webhooks. */
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

/** Alerts in a world, with a receiver of webhooks. */
export class AlertPlace {
  readonly alerts: AlertService;
  readonly receiver: Receiver;
  /** Listening address. */
  readonly host: string;
  readonly mails: OutgoingMail[] = [];
  readonly #world: World;

  private constructor(world: World, { receiver, host }: { receiver: Receiver; host: string }) {
    const { database, clock, masterKey, outbox, administration } = world;
    this.#world = world;
    this.receiver = receiver;
    this.host = host;
    this.alerts = assembleAlerts({
      database,
      clock,
      masterKey,
      outbox,
      administration,
      outgoingHosts: [host],
      publicUrl: () => 'https://evidence.example',
    });
  }

  static async open(world: World): Promise<AlertPlace> {
    const receiver = new Receiver();
    return new AlertPlace(world, { receiver, host: await receiver.listen() });
  }

  close(): Promise<void> {
    return this.receiver.close();
  }

  /** Adds a channel: a webhook to the receiver, by default. */
  add(more: object = {}) {
    const input = { kind: 'webhook', name: 'here', target: `http://${this.host}/hook`, ...more };
    return this.alerts.channels.add(SOMEBODY, newAlertChannelSchema.parse(input));
  }

  async remove(alertChannelId: string): Promise<void> {
    await this.alerts.channels.remove(SOMEBODY, alertChannelId);
  }

  /** Returns the delivery of a service's notifications. */
  deliveryFor(alerted: AlertedService): OutboxDelivery {
    const mail = { to: 'here', send: async (each: OutgoingMail) => void this.mails.push(each), close: () => {} };
    const sends = [...this.alerts.sends(mail, alerted), ...this.alerts.sendsTests(mail)];
    return new OutboxDelivery(this.#world.database, {
      clock: this.#world.clock,
      deliveries: new Map(sends.map(([kind, { deliver }]) => [kind, deliver])),
      notes: new Map(sends.map(([kind, { note }]) => [kind, note])),
      random: () => 0.5,
    });
  }

  /** Returns the content of the webhooks that the receiver accepted. */
  told() {
    return this.receiver.received.map(({ body }) => JSON.parse(body));
  }

  /** Returns acts, oldest first. */
  async acts() {
    return (await this.#world.log.newest(this.#world.database, ADMINISTRATION_STREAM, { limit: 100 })).reverse();
  }
}
