import { z } from 'zod';
import { isKey } from '../archive/key.ts';
import { sha256Schema, timeSchema } from '../model/schemas.ts';

const count = z.int().min(0);

/** Key that a record names. */
export const keySchema = z.string().refine(isKey, { error: 'is no key of an object' });

/** Object of the archive, as read back after it was stored. */
export const storedSchema = z.strictObject({
  key: keySchema,
  bytes: count,
  sha256: sha256Schema,
  /** Version of the object, if the store keeps versions. */
  version_id: z.string().optional(),
});
export type StoredAs = z.infer<typeof storedSchema>;

export const bundleSchema = storedSchema.extend({
  /** Zip inside an object that age encrypted, and its recipients. Key, length and digest above are of the object. */
  encrypted: z.strictObject({ bytes: count, sha256: sha256Schema, recipients: z.array(z.string()) }).optional(),
  /** SHA-256 of the bag's manifest-sha256.txt: the same for the same files, however they are compressed. */
  identity: sha256Schema,
  /** Lock that the store showed when the bundle was read back. */
  lock: z.strictObject({ mode: z.enum(['governance', 'compliance']), retain_until: timeSchema }).optional(),
  legal_hold: z.literal(true).optional(),
});

/**
 * HMAC-SHA-256 in hex over the record's bytes without this member, with a key that only those who run the export have;
 * null without such a key. Written last; see `export/binding.ts`.
 */
export const binding = sha256Schema.nullable();

/** Record before it is bound to its run. */
export type Unbound<T extends { binding: unknown }> = Omit<T, 'binding'>;
