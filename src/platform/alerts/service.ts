import type { Administration } from '../accounts/api.ts';
import type { Database } from '../database/database.ts';
import type { Sends } from '../jobs/delivery.ts';
import type { Outbox } from '../jobs/outbox.ts';
import type { MailTransport } from '../mail/mail.ts';
import { Dispatcher } from '../outgoing/dispatcher.ts';
import { SecretBox } from '../secrets.ts';
import type { Alerts } from './alert.ts';
import { AlertChannels } from './channels.ts';
import { notify, outboxKindOf, TEST_KIND } from './notifying.ts';
import { noteStanding, sendAlerts, sendTests } from './sending.ts';

/** Everything that services, routes and pages call of alerts. */
export interface AlertService extends Alerts {
  channels: AlertChannels;
  /** Sends alerts by which somebody tries a channel. */
  sendsTests(mail: MailTransport): Sends;
}

interface AlertParts {
  database: Database;
  clock: () => Date;
  administration: Administration;
  outbox: Pick<Outbox, 'add'>;
  /** Hosts of the inside to which alerts may be sent. */
  outgoingHosts: readonly string[];
  masterKey: Uint8Array;
  /** The public address of the platform. */
  publicUrl: () => string;
}

export function assembleAlerts({ masterKey, outgoingHosts, ...parts }: AlertParts): AlertService {
  // Channels were of traps alone: what was sealed then still opens.
  const box = new SecretBox(masterKey, 'traps/secrets');
  const deps = { ...parts, box, dispatcher: new Dispatcher({ allowed: outgoingHosts }) };
  return {
    channels: new AlertChannels(deps),
    notify: (transaction, alert) => notify(transaction, deps, alert),
    sends(mail, alerted) {
      const sending = { deliver: sendAlerts(deps, mail, alerted), note: noteStanding(alerted, deps.clock) };
      return new Map([[outboxKindOf(alerted.source), sending]]);
    },
    sendsTests: (mail) => new Map([[TEST_KIND, { deliver: sendTests(deps, mail), note: async () => {} }]]),
  };
}
