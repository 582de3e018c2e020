import type { AlertSeverity } from '../alert-enums.ts';
import { column, type TablesOf, table } from '../database/table.ts';
import type { AlertChannelKind } from './enums.ts';

export const ALERT_TABLES = {
  /** Channels that alerts are sent by. */
  alerting_channels: table({
    channel_no: column.ordinal(),
    alert_channel_id: column.text('UNIQUE'),
    kind: column.text<AlertChannelKind>(),
    name: column.text(),
    /** A URL, or an e-mail address. */
    target: column.text(),
    least_severity: column.text<AlertSeverity>(),
    /** The services whose alerts it gets, with a space between them; null for all. */
    sources: column.optional(column.text()),
    /** The secret that signs webhooks, in a SecretBox; null for e-mail. */
    secret: column.optional(column.bytes()),
    created_at: column.text(),
    removed_at: column.optional(column.text()),
  }),
  /** An alert on its way to a channel, or there. */
  alert_messages: table(
    {
      /** The message in the outbox. */
      message_id: column.text('PRIMARY KEY'),
      alert_channel_id: column.text(),
      source: column.text(),
      kind: column.text(),
      severity: column.text<AlertSeverity>(),
      subject_id: column.text(),
      group_key: column.text(),
      level: column.integer(),
      flood_key: column.text(),
      made_at: column.text(),
      state: column.text<'pending' | 'delivered' | 'dead'>(),
      attempts: column.integer(),
      delivered_at: column.optional(column.text()),
    },
    {
      indexes: {
        alert_messages_by_group: '(source, group_key, delivered_at)',
        alert_messages_by_flood: '(source, flood_key, made_at)',
        alert_messages_by_subject: '(source, subject_id)',
      },
    },
  ),
};

export type AlertTables = TablesOf<typeof ALERT_TABLES>;
