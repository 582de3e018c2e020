import { z } from 'zod';
import { ALERT_STATES, SEVERITIES } from '../alert-enums.ts';
import { text } from '../http/fields.ts';
import { MODULES } from '../modules.ts';
import { ALERT_CHANNEL_KINDS } from './enums.ts';

/** Service that sends alerts. */
export type AlertSource = Extract<(typeof MODULES)[number], { alerts: string }>['name'];

/** Labels of the services that send alerts, by name. */
export const SOURCE_LABELS = Object.fromEntries(
  MODULES.flatMap((module) => ('alerts' in module ? [[module.name, module.alerts] as const] : [])),
) as Record<AlertSource, string>;

export const ALERT_SOURCES = Object.keys(SOURCE_LABELS) as AlertSource[];

/** Delivery of an alert, in the answer of its service. */
export const alertStandingSchema = z.object({ state: z.enum(ALERT_STATES), attempts: z.int() });

export const newAlertChannelSchema = z.strictObject({
  kind: z.enum(ALERT_CHANNEL_KINDS),
  name: text.min(1).max(200),
  /** URL with http or https, or e-mail address. */
  target: text.min(1).max(2000),
  /** Lowest severity that is sent. */
  least_severity: z.enum(SEVERITIES).default('low'),
  /** Services whose alerts the channel gets; null for all, including future ones. */
  sources: z.array(z.enum(ALERT_SOURCES)).min(1).max(ALERT_SOURCES.length).nullable().default(null),
});
export type NewAlertChannel = z.output<typeof newAlertChannelSchema>;

export const alertChannelParamsSchema = z.object({ alert_channel_id: text });

export const alertChannelSchema = z.object({
  alert_channel_id: z.string(),
  kind: z.enum(ALERT_CHANNEL_KINDS),
  name: z.string(),
  target: z.string(),
  least_severity: z.enum(SEVERITIES),
  sources: z.array(z.enum(ALERT_SOURCES)).nullable(),
  created_at: z.string(),
});
export type WireAlertChannel = z.infer<typeof alertChannelSchema>;

/** New channel. `secret` signs webhooks and is returned only once; null for e-mail. */
export const madeAlertChannelSchema = alertChannelSchema.extend({ secret: z.string().nullable() });

export const alertTestSchema = z.object({
  message_id: z.string(),
  /** Result of the first attempt; a failed one is retried unless its address is refused. */
  state: z.enum(['delivered', 'failed', 'pending']),
  error: z.string().nullable(),
});
