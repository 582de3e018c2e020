import { z } from 'zod';
import { reason, text } from '../../http/fields.ts';
import { AGENT_STATES, KILL_MODES, KILL_STEPS, PASSPORT_STATUSES, STEP_RESULTS, TIER_NAMES } from '../enums.ts';

const time = z.string();
const count = z.int();

export const killSchema = z.strictObject({ mode: z.enum(KILL_MODES), reason });
export type KillInput = z.output<typeof killSchema>;

export const killParamsSchema = z.object({ agent_id: text, kill_id: text });

/** Step of a kill. `result` is null until the step has ended. */
const killStepSchema = z.object({
  step: z.enum(KILL_STEPS),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  deadline_ms: count,
  result: z.enum(STEP_RESULTS).nullable(),
  detail: z.string().nullable(),
});

/** Security Event Token that is queued for or delivered to a subscriber. */
const setDeliverySchema = z.object({
  subscriber_id: z.string(),
  audience: z.string(),
  agent_id: z.string(),
  event: z.string(),
  jti: z.string(),
  state: z.enum(['pending', 'delivered', 'dead']),
  attempts: count,
  made_at: time,
  delivered_at: time.nullable(),
});

/** Receipt of a use of the kill switch. `agents` lists children first. */
export const killReceiptSchema = z.object({
  kill_id: z.string(),
  agent_id: z.string(),
  mode: z.enum(KILL_MODES),
  reason: z.string(),
  started_by: z.string(),
  started_at: time,
  /** Time of the last step's end; null while steps are left, which also run after a restart. */
  finished_at: time.nullable(),
  public_verification_flipped_after_ms: count.nullable(),
  agents: z.array(z.object({ agent_id: z.string(), name: z.string(), steps: z.array(killStepSchema) })),
  deliveries: z.array(setDeliverySchema),
  message: z.string(),
});
export type WireKill = z.infer<typeof killReceiptSchema>;

export const reinstatedSchema = z.object({
  agent_id: z.string(),
  state: z.enum(AGENT_STATES),
  reinstated_at: time,
  passport_status: z.enum(PASSPORT_STATUSES).nullable(),
  trust: z.object({ before: count, after: count, tier: z.enum(TIER_NAMES), reasons: z.array(z.string()) }),
  /** Children, whose states do not change. */
  children: z.array(z.object({ agent_id: z.string(), state: z.enum(AGENT_STATES) })),
  message: z.string(),
});
export type Reinstated = z.infer<typeof reinstatedSchema>;

export const subscriberSchema = z.strictObject({
  /** Address (http or https) to which tokens are pushed (RFC 8935). */
  url: text
    .min(1)
    .max(2000)
    .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'is not an http or https address')
    .refine((url) => !/:\/\/[^/]*@/.test(URL.parse(url)?.href ?? ''), 'must not contain a user or a password'),
  /** `aud` claim of the tokens. */
  audience: text.trim().min(1).max(500),
});
export type NewSubscriber = z.output<typeof subscriberSchema>;

export const subscriberParamsSchema = z.object({ subscriber_id: text });

export const wireSubscriberSchema = z.object({
  subscriber_id: z.string(),
  url: z.string(),
  audience: z.string(),
  added_at: z.string(),
  added_by: z.string(),
});
export type WireSubscriber = z.infer<typeof wireSubscriberSchema>;
export const subscriberListSchema = z.object({ data: z.array(wireSubscriberSchema) });
