import { z } from 'zod';
import { text } from '../../http/fields.ts';
import { AGENT_STATES, CERTIFICATE_STATUSES, PASSPORT_STATUSES, TIER_NAMES } from '../enums.ts';

const time = z.string();
const certificateStatus = z.enum(CERTIFICATE_STATUSES);

/** All that a stranger learns of an agent. */
export const agentVerificationSchema = z.object({
  agent_id: z.string(),
  /** True if it is active, with a passport and certificates that are good. */
  valid: z.boolean(),
  status: z.enum(AGENT_STATES),
  /** Reasons that it is not valid, for people; empty if it is. */
  reasons: z.array(z.string()),
  checked_at: time,
  tier: z.enum(TIER_NAMES),
  identity: z
    .object({ did: z.string(), public_keys: z.record(z.string(), z.record(z.string(), z.string())) })
    .nullable(),
  certificate: z
    .object({
      serial: z.string(),
      not_after: time,
      status: certificateStatus,
      pq: z.object({ serial: z.string(), status: certificateStatus }),
    })
    .nullable(),
  passport: z
    .object({ jti: z.string(), status: z.enum(PASSPORT_STATUSES), issued_at: time, not_after: time })
    .nullable(),
});
export type AgentVerification = z.infer<typeof agentVerificationSchema>;

export const fileParamsSchema = z.object({ file: text });
