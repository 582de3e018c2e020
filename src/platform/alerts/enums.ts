export const ALERT_CHANNEL_KINDS = ['webhook', 'email'] as const;
export type AlertChannelKind = (typeof ALERT_CHANNEL_KINDS)[number];
