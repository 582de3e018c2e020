import { bytes, integer, optional, ordinal, type TablesOf, table, text } from '../database/table.ts';
import type { AlertChannelKind, AlertSeverity, AlertSource } from './words.ts';

export const ALERT_TABLES = {
  /** Where people are told of things. */
  alerting_channels: table({
    channel_no: ordinal(),
    alert_channel_id: text('UNIQUE'),
    kind: text<AlertChannelKind>(),
    name: text(),
    /** A URL, or an e-mail address. */
    target: text(),
    least_severity: text<AlertSeverity>(),
    /** The services of which it is told, with a space between them; null for all. */
    sources: optional(text()),
    /** The secret that signs webhooks, in a SecretBox; null for e-mail. */
    secret: optional(bytes()),
    created_at: text(),
    removed_at: optional(text()),
  }),
  /** An alert on its way to a channel, or there. */
  alert_messages: table(
    {
      /** Of the outbox. */
      message_id: text('PRIMARY KEY'),
      alert_channel_id: text(),
      source: text<AlertSource>(),
      kind: text(),
      severity: text<AlertSeverity>(),
      subject_id: text(),
      told_key: text(),
      level: integer(),
      flood_key: text(),
      made_at: text(),
      state: text<'pending' | 'delivered' | 'dead'>(),
      attempts: integer(),
      delivered_at: optional(text()),
    },
    {
      indexes: {
        alert_messages_by_told: '(source, told_key, delivered_at)',
        alert_messages_by_flood: '(source, flood_key, made_at)',
        alert_messages_by_subject: '(source, subject_id)',
      },
    },
  ),
};

export type AlertTables = TablesOf<typeof ALERT_TABLES>;
