import type { Json } from '../../core/json/canonical.ts';
import type { AlertSeverity, AlertState } from '../alert-enums.ts';
import type { Transaction } from '../database/database.ts';
import type { Sends } from '../jobs/delivery.ts';
import type { MailTransport } from '../mail/mail.ts';
import type { AlertSource } from './wire.ts';

/** An event that people are notified of. */
export interface Alert {
  source: AlertSource;
  /** The kind of event, as the `type` of a webhook: `trap.used`. */
  kind: string;
  severity: AlertSeverity;
  /** The id of what it is about, in its service. */
  subject_id: string;
  /** The key of repeated alerts. Within an hour, only a higher level is sent again. */
  group_key: string;
  /** The level, from 0. */
  level: number;
  /** The key of the limit per hour, as a trap or an endpoint: above it, only a worse event is sent. */
  flood_key: string;
}

/** The content of an alert, as of the time when it is sent. */
export interface AlertContent {
  /** The subject of a mail. */
  subject: string;
  /** The event, in a mail. */
  sentence: string;
  /** In their order; those of null are left out. They may have been written by strangers. */
  facts: readonly (readonly [name: string, value: string | null])[];
  /** The page of what it is about. */
  path: string;
  /** The data of a webhook, besides the address of its page. */
  data: { [name: string]: Json };
}

/** The delivery of a subject's alert, over all channels. */
export interface AlertStanding {
  state: AlertState;
  /** To deliver it. */
  attempts: number;
}

/** A service whose events are sent as alerts. */
export interface AlertedService {
  source: AlertSource;
  /** Asked each time that an alert is sent. */
  describe(alert: Pick<Alert, 'kind' | 'subject_id'>): Promise<AlertContent>;
  /**
   * Records the delivery of an alert, in the transaction that changes it. A caller that locks a row before `notify` locks it
   * here before `readStanding`.
   */
  noteAlert(transaction: Transaction, subjectId: string, readStanding: () => Promise<AlertStanding>): Promise<void>;
}

/** The alerts that services send. */
export interface Alerts {
  /** Queues an alert for every channel that wants it, in the transaction of its event. @returns its state. */
  notify(transaction: Transaction, alert: Alert): Promise<AlertState>;
  /** Sends the alerts of a service: for `sends` of its module. */
  sends(mail: MailTransport, alerted: AlertedService): Sends;
}
