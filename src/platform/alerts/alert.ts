import type { Json } from '../../core/json/canonical.ts';
import type { AlertSeverity, AlertState } from '../alert-enums.ts';
import type { Transaction } from '../database/database.ts';
import type { Sends } from '../jobs/delivery.ts';
import type { MailTransport } from '../mail/mail.ts';
import type { AlertSource } from './wire.ts';

/** Event that people are notified of. */
export interface Alert {
  source: AlertSource;
  /** Kind of event, such as `trap.used`, which is the `type` of a webhook. */
  kind: string;
  severity: AlertSeverity;
  /** Id of the subject in its service. */
  subject_id: string;
  /** Key that repeated alerts share. Within an hour, only a higher level is sent again. */
  group_key: string;
  /** Level, from 0. */
  level: number;
  /**
   * Key of the limit per hour, for example of a trap or an endpoint; above the limit, only a more severe event is sent.
   */
  flood_key: string;
}

/** Content of an alert at the time of sending. */
export interface AlertContent {
  /** Subject of the mail. */
  subject: string;
  /** Sentence about the event, in the mail. */
  sentence: string;
  /** Facts in order; those with null are left out. Values may be untrusted. */
  facts: readonly (readonly [name: string, value: string | null])[];
  /** Path of the subject's page. */
  path: string;
  /** Data of the webhook, besides the address of the page. */
  data: { [name: string]: Json };
}

/** Delivery of a subject's alert over all channels. */
export interface AlertStanding {
  state: AlertState;
  /** Number of attempts to deliver the alert. */
  attempts: number;
}

/** Service whose events are sent as alerts. */
export interface AlertedService {
  source: AlertSource;
  /** Describes the subject each time an alert is sent. */
  describe(alert: Pick<Alert, 'kind' | 'subject_id'>): Promise<AlertContent>;
  /**
   * Records the delivery of an alert, in the transaction that changes it. A service that locks a row before `notify`
   * must lock it here before `readStanding`.
   */
  noteAlert(transaction: Transaction, subjectId: string, readStanding: () => Promise<AlertStanding>): Promise<void>;
}

/** Alerts that services send. */
export interface Alerts {
  /**
   * Queues an alert for every channel that accepts it, in the transaction of its event. @returns the state of the
   * alert.
   */
  notify(transaction: Transaction, alert: Alert): Promise<AlertState>;
  /** Returns the senders of a service's alerts, for `sends` of its module. */
  sends(mail: MailTransport, alerted: AlertedService): Sends;
}
