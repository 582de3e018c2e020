import { z } from 'zod';
import { ALERT_STATES, SEVERITIES } from '../alert-enums.ts';
import { text } from '../http/fields.ts';
import { MODULES } from '../modules.ts';
import { ALERT_CHANNEL_KINDS } from './enums.ts';

/** A service that sends alerts. */
export type AlertSource = Extract<(typeof MODULES)[number], { alerts: string }>['name'];

/** Labels of the services that send alerts, by their names. */
export const SOURCE_LABELS = Object.fromEntries(
  MODULES.flatMap((module) => ('alerts' in module ? [[module.name, module.alerts] as const] : [])),
) as Record<AlertSource, string>;

export const ALERT_SOURCES = Object.keys(SOURCE_LABELS) as AlertSource[];

/** The delivery of an alert, in the answer of its service. */
export const alertStandingSchema = z.object({ state: z.enum(ALERT_STATES), attempts: z.int() });

export const newAlertChannelSchema = z.strictObject({
  kind: z.enum(ALERT_CHANNEL_KINDS),
  name: text.min(1).max(200),
  /** An http or https URL, or an e-mail address. */
  target: text.min(1).max(2000),
  /** The least severity that is sent. */
  least_severity: z.enum(SEVERITIES).default('low'),
  /** The services whose alerts it gets; null for all, also those to come. */
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

/** `secret` signs webhooks, and is answered this once; null for e-mail. */
export const madeAlertChannelSchema = alertChannelSchema.extend({ secret: z.string().nullable() });

export const alertTestSchema = z.object({ message_id: z.string() });
