import { z } from 'zod';
import { instant, pageQuerySchema, text } from '../http/fields.ts';
import { emailSchema } from '../mail/address.ts';
import { SCOPES, type Scope } from '../scopes.ts';
import { KEY_PRESETS, LONGEST_PASSWORD, PEOPLE_ROLES } from './enums.ts';

const DAY_SECONDS = 24 * 60 * 60;
const MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS;

const time = z.string();

const MAX_PATTERNS = 50;
const APPENDING: Scope = 'audit:write';

/** Name of an actor, or pattern of stream ids, in which `*` stands for any text. */
const limit = text.min(1).max(1024);

const newKeyFields = z.strictObject({
  name: text.min(1).max(200),
  preset: z.enum(KEY_PRESETS).optional(),
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional(),
  streams: z.array(limit).min(1).max(MAX_PATTERNS).nullish(),
  actor: limit.nullish(),
  expires_at: instant.nullable().default(null),
});

/** Limits hold for appending only, so a key that can also read would see more than its limits suggest. */
export const newKeySchema = newKeyFields
  .refine(({ preset, scopes }) => (preset === undefined) !== (scopes === undefined), {
    path: ['scopes'],
    message: 'state either scopes or a preset',
  })
  .refine((key) => key.streams == null || onlyAppends(key), {
    path: ['streams'],
    message: `a key limited to streams can have no scope but ${APPENDING}`,
  })
  .refine((key) => key.actor == null || onlyAppends(key), {
    path: ['actor'],
    message: `a key limited to an actor can have no scope but ${APPENDING}`,
  });

function onlyAppends({ preset, scopes = [] }: z.output<typeof newKeyFields>): boolean {
  return preset === 'recorder' || (scopes.length > 0 && scopes.every((scope) => scope === APPENDING));
}

/** Body of a rotation; a request without a body uses the defaults. */
export const rotationSchema = z.preprocess(
  (given) => given ?? {},
  z.strictObject({
    /** Time during which the old key stays valid next to the new one. */
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DAY_SECONDS),
    /** Expiry of the new key; that of the old one by default. */
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
  /** First of the keys that were rotated into this one; they share their idempotency keys. */
  lineage: z.string(),
  /** Sole subject that the key may act for, `endpoint:ID`; null if it is not bound. */
  bound_to: z.string().nullable(),
  /** Patterns of the streams to which the key may append; null for any. */
  streams: z.array(z.string()).nullable(),
  /** Sole actor as whom the key may append; null for any. */
  actor: z.string().nullable(),
  /** Person who made the key, also with another key; null for a command or a service. */
  maker_id: z.string().nullable(),
});

export const keyMakerSchema = z.object({
  person_id: z.string(),
  name: z.string(),
  /** `demoted`: the role of the person lacks a scope of the key. */
  state: z.enum(['enabled', 'disabled', 'demoted']),
});

/** Number of the keys that were revoked. */
export const revokedKeysSchema = z.object({ revoked: z.int() });

export const madeKeySchema = apiKeySchema.extend({ maker: keyMakerSchema.nullable() });

/** Filters of the list of keys: a person, or all people who may no longer sign in. */
export const keyQuerySchema = pageQuerySchema.extend({
  maker_id: text.optional(),
  maker_state: z.literal('disabled').optional(),
});

/** Issued key. `api_key` is its text, which is returned only once. */
export const issuedKeySchema = apiKeySchema.extend({ api_key: z.string() });

export const roleSchema = z.enum(PEOPLE_ROLES);

/** Name of a person on a single line, for pages and lists. */
export const personNameSchema = text
  .trim()
  .min(1)
  .max(200)
  .refine((name) => !/\p{Cc}/u.test(name), 'contains a control character');

/** Password that a person chooses, which `refuseWeak` judges. */
export const passwordSchema = z.string().max(4 * LONGEST_PASSWORD);

export const invitationSchema = z.strictObject({ email: emailSchema, role: roleSchema });
export const newRoleSchema = z.strictObject({ role: roleSchema });
export const personParamsSchema = z.object({ person_id: text });
export const signUpParamsSchema = z.object({ sign_up_id: text });
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

/** Person who confirmed an address and waits for approval. */
export const signUpSchema = z.object({
  sign_up_id: z.string(),
  email: z.string(),
  name: z.string(),
  requested_at: time,
});

/** Invitation without its link, which is only in the mail. */
export const sentInvitationSchema = z.object({ link_id: z.string(), email: z.string(), role: roleSchema });

/** Invitation that can be followed. */
export const openInvitationSchema = sentInvitationSchema.extend({
  invited_by: z.string().nullable(),
  expires_at: time,
});
