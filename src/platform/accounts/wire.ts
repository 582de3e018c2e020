import { z } from 'zod';
import { instant, text } from '../http/fields.ts';
import { emailSchema } from '../mail/address.ts';
import { SCOPES } from '../scopes.ts';
import { LONGEST_PASSWORD, PEOPLE_ROLES } from './enums.ts';

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

export const roleSchema = z.enum(PEOPLE_ROLES);

/** A name stands in pages and lists: in one line. */
export const personNameSchema = text
  .trim()
  .min(1)
  .max(200)
  .refine((name) => !/\p{Cc}/u.test(name), 'has a control character');

/** A password that somebody chooses; what is wrong with one `refuseWeak` says. */
export const passwordSchema = z.string().max(4 * LONGEST_PASSWORD);

export const invitationSchema = z.strictObject({ email: emailSchema, role: roleSchema });
export const newRoleSchema = z.strictObject({ role: roleSchema });
export const personParamsSchema = z.object({ person_id: text });
export const invitationParamsSchema = z.object({ link_id: text });

export const personSchema = z.object({
  person_id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleSchema,
  second_factor: z.boolean(),
  created_at: time,
  disabled_at: time.nullable(),
});

/** An invitation without its link, which is in the mail alone. */
export const sentInvitationSchema = z.object({ link_id: z.string(), email: z.string(), role: roleSchema });

/** An invitation that can be followed. */
export const openInvitationSchema = sentInvitationSchema.extend({
  invited_by: z.string().nullable(),
  expires_at: time,
});
