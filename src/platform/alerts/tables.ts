import type { AlertSeverity } from '../alert-enums.ts';
import { column, type TablesOf, table } from '../database/table.ts';
import type { AlertChannelKind } from './enums.ts';

export const ALERT_TABLES = {
  /** Channels that send alerts. */
  alerting_channels: table({
    channel_no: column.ordinal(),
    alert_channel_id: column.text('UNIQUE'),
    kind: column.text<AlertChannelKind>(),
    name: column.text(),
    /** URL, or e-mail address. */
    target: column.text(),
    least_severity: column.text<AlertSeverity>(),
    /** Services whose alerts the channel gets, separated by spaces; null for all. */
    sources: column.optional(column.text()),
    /** Secret that signs webhooks, sealed in a SecretBox; null for e-mail. */
    secret: column.optional(column.bytes()),
    created_at: column.text(),
    removed_at: column.optional(column.text()),
    /** Seal over all columns above but the number. */
    seal: column.text(),
  }),
  /** Alerts that are queued for or delivered to a channel. */
  alert_messages: table(
    {
      /** Message in the outbox. */
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
      /** Seal over all columns above. */
      seal: column.text(),
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
