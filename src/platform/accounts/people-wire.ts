import { z } from 'zod';
import { text } from '../http/fields.ts';
import { emailSchema } from '../mail/address.ts';
import { PEOPLE_ROLES } from './roles.ts';
import { LONGEST_PASSWORD } from './weak-passwords.ts';

const time = z.string();

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
