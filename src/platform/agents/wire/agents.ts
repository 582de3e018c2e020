import { z } from 'zod';
import { pageQuerySchema, reason, text } from '../../http/fields.ts';
import {
  AGENT_STATES,
  AGENT_TYPES,
  CERTIFICATE_STATUSES,
  PASSPORT_STATUSES,
  SUSPENSION_CAUSES,
  TIER_NAMES,
} from '../enums.ts';

const MOST_ALLOWED = 500;

const time = z.string();
const word = text.trim().min(1).max(200);
const versionText = z
  .string()
  .max(50)
  .regex(/^\d+(\.\d+)*$/, 'is not numbers separated by dots, such as 1.0.0');
const hostName = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, 'is not a host name');
const promptDigest = z.string().regex(/^[0-9a-f]{64}$/, 'is not SHA-256 in lower-case hex');

const fields = {
  name: word,
  agent_type: z.enum(AGENT_TYPES),
  model: word,
  version: versionText,
  /** Names of allowed tools; with an empty list, the agent may use none. */
  allowed_tools: z.array(word).max(MOST_ALLOWED),
  /** Host names of allowed APIs; with an empty list, the agent may call none. */
  allowed_apis: z.array(hostName).max(MOST_ALLOWED),
};

export const agentRegistrationSchema = z.strictObject({
  ...fields,
  allowed_tools: fields.allowed_tools.default([]),
  allowed_apis: fields.allowed_apis.default([]),
  prompt_sha256: promptDigest.nullable().default(null),
  /** Agent that delegates to this one. */
  parent_agent_id: text.nullable().default(null),
});
export type AgentRegistration = z.output<typeof agentRegistrationSchema>;

export const agentPatchSchema = z
  .strictObject({ ...fields, prompt_sha256: promptDigest.nullable() })
  .partial()
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), 'changes nothing');
export type AgentPatch = z.output<typeof agentPatchSchema>;

export const agentQuerySchema = pageQuerySchema.extend({
  state: z.enum(AGENT_STATES).optional(),
  tier: z.enum(TIER_NAMES).optional(),
  /** Part of the name, case-insensitive. */
  q: text.max(200).optional(),
});
export type AgentQuery = z.infer<typeof agentQuerySchema>;

const publicKeysSchema = z.record(z.string(), z.record(z.string(), z.string()));

const identitySchema = z.object({
  did: z.string(),
  /** Public keys by algorithm. */
  public_keys: publicKeysSchema,
  certificate: z.object({
    serial: z.string(),
    not_after: time,
    pem: z.string(),
    pq: z.object({ serial: z.string(), pem: z.string() }),
  }),
  passport: z.object({ jti: z.string(), jws: z.string(), status: z.enum(PASSPORT_STATUSES), status_changed_at: time }),
  /** Composition that the certificates and the passport state. */
  composition: z.string(),
  /** API key issued with the identity. */
  key_id: z.string(),
  issued_at: time,
});

export const agentSchema = z.object({
  agent_id: z.string(),
  name: z.string(),
  agent_type: z.enum(AGENT_TYPES),
  model: z.string(),
  version: z.string(),
  allowed_tools: z.array(z.string()),
  allowed_apis: z.array(z.string()),
  prompt_sha256: z.string().nullable(),
  composition: z.object({ sha256: z.string(), changed_at: time.nullable() }),
  parent_agent_id: z.string().nullable(),
  children: z.array(
    z.object({
      agent_id: z.string(),
      name: z.string(),
      state: z.enum(AGENT_STATES),
      score: z.int(),
      tier: z.enum(TIER_NAMES),
    }),
  ),
  state: z.enum(AGENT_STATES),
  suspended_because: z.enum(SUSPENSION_CAUSES).nullable(),
  state_changed_at: time,
  score: z.int(),
  tier: z.enum(TIER_NAMES),
  registered_at: time,
  registered_by: z.string(),
  onboarded_at: time.nullable(),
  identity: identitySchema.nullable(),
  audit_stream: z.object({ stream_id: z.string() }),
  /** Summary in sentences. */
  message: z.string(),
});
export type WireAgent = z.infer<typeof agentSchema>;

/** Result of an onboarding, with private keys and the API key, which are returned only once. */
export const onboardedSchema = z.object({
  agent_id: z.string(),
  quantum_identity: z.object({
    did: z.string(),
    public_keys: publicKeysSchema,
    private_keys_once: z.record(z.string(), z.string()),
  }),
  certificate: z.object({
    pem: z.string(),
    chain_pem: z.string(),
    serial: z.string(),
    not_after: time,
    pq: z.object({ pem: z.string(), chain_pem: z.string(), serial: z.string() }),
  }),
  vault: z.object({ vault_id: z.string(), status: z.literal('open'), encryption: z.string() }),
  audit_stream: z.object({ stream_id: z.string(), entries_url: z.string() }),
  passport: z.object({ jti: z.string(), jws: z.string(), status_url: z.string() }),
  api_key: z.string(),
  message: z.string(),
});
export type Onboarded = z.infer<typeof onboardedSchema>;

const certificateStatus = z.enum(CERTIFICATE_STATUSES);

/** Public facts about an agent. */
export const agentVerificationSchema = z.object({
  agent_id: z.string(),
  /** True if the agent is active, with a valid passport and valid certificates. */
  valid: z.boolean(),
  status: z.enum(AGENT_STATES),
  /** Readable reasons why the agent is not valid; empty if it is. */
  reasons: z.array(z.string()),
  checked_at: time,
  tier: z.enum(TIER_NAMES),
  identity: identitySchema.pick({ did: true, public_keys: true }).nullable(),
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

const count = z.int();

export const agentStatsSchema = z.object({
  agents: count,
  states: z.object({ registered: count, active: count, suspended: count, revoked: count }),
  /** Agents that are not revoked, by tier. */
  tiers: z.object({ VERIFIED: count, TRUSTED: count, MONITOR: count, RESTRICTED: count, 'AUTO-SUSPENDED': count }),
  suspended_passports: count,
  unfinished_kills: count,
  actions: count,
  actions_24h: count,
  violations_24h: count,
  last_action_at: z.string().nullable(),
  /** Time of the oldest suspension in force, of an agent or a passport. */
  wrong_since: z.string().nullable(),
});
export type AgentStats = z.infer<typeof agentStatsSchema>;

export const agentParamsSchema = z.object({ agent_id: text });
export const reasonBodySchema = z.strictObject({ reason });
