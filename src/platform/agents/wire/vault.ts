import { z } from 'zod';
import { text } from '../../http/fields.ts';
import { CREDENTIAL_TYPES, newTrapSchema } from '../../traps/api.ts';
import { DECOY_SORTS } from '../enums.ts';

const time = z.string();
/** Bytes of a secret are fewer than four times as many. */
const LONGEST_SECRET = 65_536;

const secretName = text
  .max(100)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'has something else than letters, digits, dots, underscores and hyphens');
const toolName = text.min(1).max(200);

export const secretParamsSchema = z.object({ agent_id: text, name: secretName });

export const newSecretSchema = z.strictObject({ value: text.min(1).max(LONGEST_SECRET) });

export const secretSchema = z.object({ name: z.string(), version: z.int(), put_at: time });
export type WireSecret = z.infer<typeof secretSchema>;

/** `until`: then it is asked for again. A lease that ends takes no value back from whoever has it. */
export const takenSecretSchema = secretSchema.extend({
  value: z.string(),
  lease: z.object({ lease_id: z.string(), until: time }),
});
export type TakenSecret = z.infer<typeof takenSecretSchema>;

/** The agent's own view of its vault. `tools`: those that it may use. */
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
 * A secret is made up, unless `credential_type` says what it is; then `decoy` and `options` are as of any such trap.
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
  /** The trap: its detections say who used it. */
  credential_id: z.string(),
  made_at: time,
  made_by: z.string(),
});
export type WireDecoy = z.infer<typeof decoySchema>;
export const decoyListSchema = z.object({ data: z.array(decoySchema) });
