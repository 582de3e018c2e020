import { z } from 'zod';
import { instant, text } from '../http/fields.ts';
import { SCOPES } from '../scopes.ts';

const DAY_SECONDS = 24 * 60 * 60;
const MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS;

const time = z.string();

export const newKeySchema = z.strictObject({
  name: text.min(1).max(200),
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length),
  expires_at: instant.nullable().default(null),
});

/** A request without a body asks for nothing else. */
export const rotationSchema = z.preprocess(
  (given) => given ?? {},
  z.strictObject({
    /** For so long the old key stays good beside the new one. */
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DAY_SECONDS),
    /** The expiry of the new key; that of the old one by default. */
    expires_at: instant.nullable().optional(),
  }),
);

export const keyParamsSchema = z.object({ key_id: text });

export const apiKeySchema = z.object({
  key_id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_at: time.nullable(),
  rotated_from: z.string().nullable(),
  /** The only subject that it may speak for, `endpoint:ID`. */
  bound_to: z.string().nullable(),
});

/** `api_key` is its text, which is answered this once. */
export const issuedKeySchema = apiKeySchema.extend({ api_key: z.string() });
