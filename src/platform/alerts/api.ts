import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import type { MailTransport } from '../mail/mail.ts';
import type { Sends } from '../module.ts';
import type { AlertSeverity, AlertSource, AlertState } from './enums.ts';

/** Something that people are to be told of. */
export interface Alert {
  source: AlertSource;
  /** The kind of event, as the `type` of a webhook: `trap.used`. */
  kind: string;
  severity: AlertSeverity;
  /** The id of what it is about, in its service. */
  subject_id: string;
  /** The key of repeated alerts. Within an hour, only a higher level is sent again. */
  told_key: string;
  /** The level, from 0. */
  level: number;
  /** So much is told of a key in an hour, and then only what is worse: of a trap, of an endpoint. */
  flood_key: string;
}

/** The content of an alert, as of the time when it is sent. */
export interface AlertSaying {
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

/** A service that tells people of something. */
export interface AlertTeller {
  source: AlertSource;
  /** Asked each time that an alert is sent. */
  say(alert: Pick<Alert, 'kind' | 'subject_id'>): Promise<AlertSaying>;
  /**
   * Notes how an alert stands, in the transaction that says so. Whoever locks something before `tell` locks the same
   * here before `readStanding`.
   */
  noteAlert(transaction: Transaction, subjectId: string, readStanding: () => Promise<AlertStanding>): Promise<void>;
}

/** By what services tell people of something. */
export interface Alerts {
  /** Has every channel told that wants it, in the transaction of what is told. @returns how the alert stands. */
  tell(transaction: Transaction, alert: Alert): Promise<AlertState>;
  /** Sends what a service has told: for `sends` of its module. */
  sends(mail: MailTransport, teller: AlertTeller): Sends;
}
