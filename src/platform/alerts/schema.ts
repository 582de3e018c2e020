import type { Generated } from 'kysely';
import type { Alert } from './api.ts';
import type { AlertChannelKind, AlertSeverity } from './words.ts';

/** Where people are told of things. */
export interface AlertChannelTable {
  channel_no: Generated<number>;
  alert_channel_id: string;
  kind: AlertChannelKind;
  name: string;
  /** A URL, or an e-mail address. */
  target: string;
  least_severity: AlertSeverity;
  /** The services of which it is told, with a space between them; null for all. */
  sources: string | null;
  /** The secret that signs webhooks, in a SecretBox; null for e-mail. */
  secret: Uint8Array | null;
  created_at: string;
  removed_at: string | null;
}

/** An alert on its way to a channel, or there. */
export interface AlertMessageTable extends Alert {
  /** Of the outbox. */
  message_id: string;
  alert_channel_id: string;
  made_at: string;
  state: 'pending' | 'delivered' | 'dead';
  attempts: number;
  delivered_at: string | null;
}

export interface AlertTables {
  alerting_channels: AlertChannelTable;
  alert_messages: AlertMessageTable;
}
