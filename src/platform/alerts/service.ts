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

/** Dependencies of services, routes and pages on alerts. */
export interface AlertService extends Alerts {
  channels: AlertChannels;
  /** Returns the senders of test alerts. */
  sendsTests(mail: MailTransport): Sends;
}

interface AlertParts {
  database: Database;
  clock: () => Date;
  administration: Administration;
  outbox: Pick<Outbox, 'add'>;
  /** Internal hosts that alerts may be sent to. */
  outgoingHosts: readonly string[];
  masterKey: Uint8Array;
  /** Returns the public address of the platform. */
  publicUrl: () => string;
}

export function assembleAlerts({ masterKey, outgoingHosts, ...parts }: AlertParts): AlertService {
  // Name of the box from the time when only traps had channels, kept so that stored secrets still open.
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
