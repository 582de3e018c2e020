/** Severities, least first. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type AlertSeverity = (typeof SEVERITIES)[number];

export function isLess(severity: AlertSeverity, than: AlertSeverity): boolean {
  return SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(than);
}

/** States of an alert. `none`: no channel accepts it. `suppressed`: an earlier alert covers it. */
export const ALERT_STATES = ['none', 'suppressed', 'pending', 'delivered', 'dead'] as const;
export type AlertState = (typeof ALERT_STATES)[number];
