import { z } from 'zod';
import { path } from './path-schema.ts';

const encodingSchema = z.enum(['hex', 'base64', 'base64url']);
export type DigestEncoding = z.infer<typeof encodingSchema>;

const algorithmSchema = z.enum(['sha-256', 'sha-384', 'sha-512', 'hmac-sha-256', 'hmac-sha-384', 'hmac-sha-512']);
export type Algorithm = z.infer<typeof algorithmSchema>;

const memberNames = z.array(z.string().min(1));

/** Members of the entry that are written: all but some, as sent; or these, in this order. */
const members = { without: memberNames.optional(), fields: memberNames.optional() };

const eitherMembers = (form: { without?: unknown; fields?: unknown }) =>
  form.without === undefined || form.fields === undefined;
const EITHER = { message: 'either these members or all without some', path: ['fields'] };

/** Ways of writing JSON as text. */
const jsonFormSchema = z.discriminatedUnion('form', [
  z.strictObject({ form: z.literal('rfc8785'), of: path.optional(), ...members }).refine(eitherMembers, EITHER),
  /** Python's `json.dumps`: `spaced` is its default (", " and ": "), `ascii` its `ensure_ascii`. */
  z
    .strictObject({
      form: z.literal('python'),
      separators: z.enum(['spaced', 'compact']),
      ascii: z.boolean(),
      sort_keys: z.boolean(),
      of: path.optional(),
      ...members,
    })
    .refine(eitherMembers, EITHER),
  /** Bytes of the answer; omitted members are removed with their comma. */
  z.strictObject({ form: z.literal('as-sent'), of: path.optional(), without: memberNames.optional() }),
]);
export type JsonForm = z.infer<typeof jsonFormSchema>;

/** Parts of the hashed text, in order. */
const partSchema = z.union([
  /** Predecessor's digest as written; for the first entry, `genesis_hashed_as`. */
  z.literal('previous'),
  /** Predecessor's digest decoded; empty if the first entry sends none. */
  z.literal('previous-bytes'),
  z.strictObject({ text: z.string() }),
  /** Fields as text: strings as they are, everything else as sent, null as `null_as`. */
  z.strictObject({
    join: z.strictObject({
      separator: z.string(),
      fields: z.array(path.min(1)).min(1),
      null_as: z.string().default(''),
    }),
  }),
  z.strictObject({ json: jsonFormSchema }),
]);
export type PreimagePart = z.infer<typeof partSchema>;

/** Key of an HMAC: a fixed id, or the id in a field of the entry. */
const keySchema = z.union([z.strictObject({ id: z.string().min(1) }), z.strictObject({ field: path.min(1) })]);
export type KeyChoice = z.infer<typeof keySchema>;

const genesisSchema = z.union([
  z.enum(['zeros', 'empty', 'null', 'absent']),
  z.strictObject({ text: z.string().min(1) }),
]);

export const digestSchema = z
  .strictObject({
    /** Encoding of the digest's text. */
    encoding: encodingSchema,
    /** Text before the digest, e.g. "sha256:". */
    prefix: z.string().default(''),
    /** Predecessor that the first entry of a stream states. */
    genesis: genesisSchema,
    /** Value of `previous` in the first entry's preimage; if absent, the value as sent, and nothing for null. */
    genesis_hashed_as: z.string().optional(),
    /** Null if the recipe of digests is not known: then no one can prove the content. */
    recipe: z
      .strictObject({ algorithm: algorithmSchema, key: keySchema.nullable(), preimage: z.array(partSchema).min(1) })
      .nullable(),
  })
  .refine(({ recipe }) => recipe === null || recipe.algorithm.startsWith('hmac') === (recipe.key !== null), {
    message: 'an HMAC needs a key, and a hash has none',
    path: ['recipe', 'key'],
  });
export type DigestDescription = z.infer<typeof digestSchema>;

export const sealSchema = z.strictObject({
  field: path.min(1),
  key: keySchema,
  algorithm: z.enum(['hmac-sha-256', 'hmac-sha-384', 'hmac-sha-512']),
  encoding: encodingSchema,
  /** Data under the HMAC: the digest as written, or its bytes. */
  over: z.enum(['digest-text', 'digest-bytes']),
});
export type SealDescription = z.infer<typeof sealSchema>;
