import { z } from 'zod';
import { entryPlaceSchema } from '../../audit/api.ts';
import { pageQuerySchema, recordedIn, text, time } from '../../http/fields.ts';
import { ACTION_DECISIONS, ACTION_OUTCOMES, SIGNATURE_ALGORITHMS, TIER_NAMES, TRUST_RULES } from '../enums.ts';

const name = text.min(1).max(256);
/** Hash that is accepted as sent: a text that is not a SHA-256 is a recorded violation. */
const statedHash = text.max(256);
const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/i, 'is not 64 hexadecimal digits');

/** Content of an action, all of which an attestation signs. */
export const actionContentSchema = z.strictObject({
  action_type: name,
  action_description: text.min(1).max(4096),
  tool_used: name.optional(),
  /** Host name of the API. */
  api_called: name.optional(),
  input_hash: statedHash.optional(),
  output_hash: statedHash.optional(),
  /** Model and version in use; if they differ from the registered ones, the agent is another one. */
  model: name.optional(),
  version: name.optional(),
});
export type ActionContent = z.output<typeof actionContentSchema>;

const attestationSchema = z.strictObject({
  /** Action id as signed; the action has it in lower case. */
  action_id: z.uuid(),
  signed_at: time,
  algorithm: z.enum(SIGNATURE_ALGORITHMS),
  /** Signature in base64url. */
  signature: z.string().max(8192),
});
export type ActionAttestation = z.output<typeof attestationSchema>;

export const newActionSchema = actionContentSchema.extend({ attestation: attestationSchema.optional() });
export type NewAction = z.output<typeof newActionSchema>;

const trust = z.object({ before: z.int(), after: z.int(), tier: z.enum(TIER_NAMES), reasons: z.array(z.string()) });

const violationSchema = z.object({ rule: z.enum(TRUST_RULES), message: z.string() });
export type Violation = z.infer<typeof violationSchema>;

/** Answer to a POST of an action. */
export const loggedActionSchema = z.object({
  action_id: z.string(),
  decision: z.enum(ACTION_DECISIONS),
  violations: z.array(violationSchema),
  attested: z.boolean(),
  entry: entryPlaceSchema,
  trust,
});
export type LoggedAction = z.infer<typeof loggedActionSchema>;

export const newOutcomeSchema = z.strictObject({ outcome: z.enum(ACTION_OUTCOMES), output_hash: sha256Hex.optional() });
export type NewOutcome = z.output<typeof newOutcomeSchema>;

const outcomeSchema = z.object({
  outcome: z.enum(ACTION_OUTCOMES),
  output_hash: z.string().nullable(),
  reported_at: z.string(),
  entry: entryPlaceSchema,
});

/** Answer to a POST of an outcome. */
export const loggedOutcomeSchema = outcomeSchema.extend({ action_id: z.string() });
export type LoggedOutcome = z.infer<typeof loggedOutcomeSchema>;

const stated = z.string().nullable();

export const actionSchema = loggedActionSchema.extend({
  agent_id: z.string(),
  received_at: z.string(),
  signed_at: stated,
  action_type: z.string(),
  action_description: z.string(),
  tool_used: stated,
  api_called: stated,
  input_hash: stated,
  output_hash: stated,
  model: stated,
  version: stated,
  algorithm: stated,
  reported_by: z.string(),
  outcome: outcomeSchema.nullable(),
});
export type WireAction = z.infer<typeof actionSchema>;

export const actionQuerySchema = pageQuerySchema.extend({
  decision: z.enum(ACTION_DECISIONS).optional(),
  ...recordedIn,
});
export type ActionQuery = z.infer<typeof actionQuerySchema>;
export const actionParamsSchema = z.object({ agent_id: text, action_id: text.toLowerCase() });
