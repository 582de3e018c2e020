import { sealedRows } from '../rows.ts';
import { ALERT_TABLES } from './tables.ts';

/** Channels, whose rows say who is alerted. */
export const sealedChannels = sealedRows(ALERT_TABLES, 'alerting_channels', 'alert_channel_id', ['channel_no']);
/** Alerts, whose rows say what is sent, and which later alerts are suppressed. */
export const sealedMessages = sealedRows(ALERT_TABLES, 'alert_messages', 'message_id', []);
