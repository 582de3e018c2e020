import { z } from 'zod';

/** Maximum length of an address: RFC 5321 section 4.5.3.1.3. */
const LONGEST = 254;

/**
 * Pattern of HTML's `input type=email`, in lower case. ASCII only, so that no two addresses look alike, and none can
 * end a header.
 */
const SHAPE =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Returns the form in which an address is stored and compared. */
export function canonicalEmail(email: string): string {
  return email.normalize('NFC').trim().toLowerCase();
}

/** @param email in canonical form. */
export function isEmail(email: string): boolean {
  return email.length <= LONGEST && SHAPE.test(email);
}

export const emailSchema = z
  .string()
  .meta({ format: 'email' })
  .transform(canonicalEmail)
  .refine(isEmail, 'is not an e-mail address');
