import type { Migrations } from '../database/migration.ts';

/** `alert_channels` and `alerts` were tables of traps, which has moved its rows into these. */
export const ALERT_MIGRATIONS: Migrations = {
  'alerts/0001-alerts': ({ text, integer, bytes, ordinal, end }) => [
    `CREATE TABLE alerting_channels (
      channel_no ${ordinal},
      alert_channel_id ${text} NOT NULL UNIQUE,
      kind ${text} NOT NULL,
      name ${text} NOT NULL,
      target ${text} NOT NULL,
      least_severity ${text} NOT NULL,
      sources ${text},
      secret ${bytes},
      created_at ${text} NOT NULL,
      removed_at ${text}
    ) ${end}`,
    `CREATE TABLE alert_messages (
      message_id ${text} PRIMARY KEY,
      alert_channel_id ${text} NOT NULL,
      source ${text} NOT NULL,
      kind ${text} NOT NULL,
      severity ${text} NOT NULL,
      subject_id ${text} NOT NULL,
      told_key ${text} NOT NULL,
      level ${integer} NOT NULL,
      flood_key ${text} NOT NULL,
      made_at ${text} NOT NULL,
      state ${text} NOT NULL,
      attempts ${integer} NOT NULL,
      delivered_at ${text}
    ) ${end}`,
    'CREATE INDEX alert_messages_by_told ON alert_messages (source, told_key, delivered_at)',
    'CREATE INDEX alert_messages_by_flood ON alert_messages (source, flood_key, made_at)',
    'CREATE INDEX alert_messages_by_subject ON alert_messages (source, subject_id)',
  ],
};
