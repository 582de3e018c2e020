import { z } from 'zod';
import { text } from '../../http/fields.ts';
import { CREDENTIAL_TYPES, newTrapSchema } from '../../traps/api.ts';
import { DECOY_SORTS } from '../enums.ts';

const time = z.string();
/** Maximum length of a secret in UTF-16 code units, each of which needs at most three bytes of UTF-8. */
const LONGEST_SECRET = 65_536;

const secretName = text
  .max(100)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must contain only letters, digits, dots, underscores and hyphens');
const toolName = text.min(1).max(200);

export const secretParamsSchema = z.object({ agent_id: text, name: secretName });

export const newSecretSchema = z.strictObject({ value: text.min(1).max(LONGEST_SECRET) });

export const secretSchema = z.object({ name: z.string(), version: z.int(), put_at: time });
export type WireSecret = z.infer<typeof secretSchema>;

/**
 * Secret that was handed out. After `until`, the secret has to be read again. The end of a lease does not take the
 * value back.
 */
export const takenSecretSchema = secretSchema.extend({
  value: z.string(),
  lease: z.object({ lease_id: z.string(), until: time }),
});
export type TakenSecret = z.infer<typeof takenSecretSchema>;

/** Agent's own view of its vault. `tools` are those that it may use. */
export const vaultSchema = z.object({
  vault_id: z.string(),
  status: z.literal('open'),
  encryption: z.string(),
  secrets: z.array(secretSchema),
  tools: z.array(z.string()),
});
export type WireVault = z.infer<typeof vaultSchema>;

const { decoy, options } = newTrapSchema.shape;

/**
 * Request for a decoy. The secret is made up unless `credential_type` is set; `decoy` and `options` are those of such a
 * trap.
 */
export const newDecoySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('secret'),
    name: secretName,
    credential_type: z.enum(CREDENTIAL_TYPES).optional(),
    decoy,
    options,
  }),
  z.strictObject({ kind: z.literal('tool'), name: toolName }),
]);
export type NewDecoy = z.output<typeof newDecoySchema>;

export const decoyParamsSchema = z.object({ agent_id: text, decoy_id: text });

export const decoySchema = z.object({
  decoy_id: z.string(),
  agent_id: z.string(),
  kind: z.enum(DECOY_SORTS),
  name: z.string(),
  /** Trap, whose detections show uses of the decoy. */
  credential_id: z.string(),
  made_at: time,
  made_by: z.string(),
});
export type WireDecoy = z.infer<typeof decoySchema>;
export const decoyListSchema = z.object({ data: z.array(decoySchema) });
