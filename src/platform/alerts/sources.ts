import { MODULES } from '../modules.ts';

/** A service that sends alerts. */
export type AlertSource = Extract<(typeof MODULES)[number], { alerts: string }>['name'];

/** Labels of the services that send alerts, by their names. */
export const SOURCE_LABELS = Object.fromEntries(
  MODULES.flatMap((module) => ('alerts' in module ? [[module.name, module.alerts] as const] : [])),
) as Record<AlertSource, string>;

export const ALERT_SOURCES = Object.keys(SOURCE_LABELS) as AlertSource[];
