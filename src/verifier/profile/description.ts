import { z } from 'zod';
import { digestSchema, sealSchema } from './digest-description.ts';
import { listSchema, parameter, urlPath } from './list-description.ts';
import { path } from './path-schema.ts';
import { supplementsSchema } from './supplements.ts';

/**
 * A contract file: how one kind of audit service writes its lists, packages and digests. Data only: nothing in it runs.
 * The paths and methods of the interface are the defaults of `DEFAULT_DESCRIPTION`; a file states all of them.
 */

/** The path of a value that the service may not show. */
const optionalPath = path.min(1).nullable();
/** Paths of a value that the service may write in several members. */
const rolePaths = z
  .union([path.min(1), z.array(path.min(1)).min(1)])
  .nullable()
  .optional();
const body = z.record(z.string(), z.json());

export const descriptionSchema = z
  .strictObject({
    format: z.literal('evidence-contract/1'),
    name: z.string().min(1).max(100),
    /** The form in which counts and sequence numbers are sent: JSON numbers or text. */
    numbers: z.enum(['number', 'text']).default('number'),
    streams: listSchema.extend({
      fields: z.strictObject({
        stream_id: path.min(1),
        entry_count: optionalPath,
        head_sequence: optionalPath,
        head_digest: optionalPath,
        verified: optionalPath,
        last_checked_at: optionalPath,
      }),
    }),
    /** The listing of one stream's entries; null where there is none, or none for one stream. */
    entries: listSchema
      .extend({
        stream_parameter: parameter,
        from_parameter: parameter.nullable(),
        to_parameter: parameter.nullable(),
        /** Selects the entries with a higher number than this one; null where there is none. */
        after_parameter: parameter.nullable().default(null),
        /** By sequence. */
        order: z.enum(['ascending', 'descending', 'unordered']),
      })
      .nullable(),
    /** The service's own check of a stream; null where its path is not known. */
    verify: z
      .strictObject({
        path: urlPath,
        body,
        fields: z.strictObject({
          verified: path.min(1),
          checked_at: optionalPath,
          failures: optionalPath,
          /** Within a failure. */
          failure_sequence: optionalPath,
        }),
      })
      .nullable(),
    generate: z.strictObject({
      path: urlPath,
      /** Sent with {stream_id}, {from}, {to} filled in; a member whose end of the period is open is left out. */
      body,
      idempotency_header: z.string().min(1).nullable(),
      /** The contents of a package: one stream or all of the account. */
      scope: z.enum(['stream', 'account']),
      fields: z.strictObject({
        package_id: path.min(1),
        stream_id: optionalPath,
        /** The count of the package, in the answer by which it is ready. */
        entry_count: optionalPath.default(null),
      }),
      ready: z.discriminatedUnion('when', [
        z.strictObject({ when: z.literal('at-once') }),
        /** A download answers with one of `not_yet` until there is something to download. */
        z.strictObject({ when: z.literal('download-answers'), not_yet: z.array(z.int().min(200).max(599)).min(1) }),
        /** A field says so, in the answer of generate or, later, of `path`. */
        z.strictObject({
          when: z.literal('status-says'),
          path: urlPath,
          field: path.min(1),
          ready: z.array(z.string()).min(1),
          pending: z.array(z.string()),
        }),
      ]),
    }),
    downloads: z.strictObject({ json: urlPath, pdf: urlPath.nullable(), summary: urlPath.nullable() }),
    /** The JSON form. */
    package: z.strictObject({
      entries: path,
      /** A text by which this form of package is known. */
      format: z.strictObject({ field: path.min(1), is: z.string() }).nullable(),
      fields: z.strictObject({
        package_id: optionalPath,
        stream_id: optionalPath,
        entry_count: optionalPath,
        first_sequence: optionalPath,
        last_sequence: optionalPath,
        head_digest: optionalPath,
        generated_at: optionalPath,
      }),
      checkpoints: z
        .strictObject({
          items: path.min(1),
          stream_id: optionalPath,
          sequence: path.min(1),
          digest: path.min(1),
          token: path.min(1),
          token_encoding: z.enum(['base64', 'base64url', 'hex']),
        })
        .nullable(),
    }),
    /** Null where the summary is no JSON. */
    summary: z
      .strictObject({
        package_id: optionalPath,
        stream_id: optionalPath,
        entry_count: optionalPath,
        head_digest: optionalPath,
        /** An object with the number of entries of each action. */
        actions: optionalPath.default(null),
      })
      .nullable(),
    entry: z.strictObject({
      stream_id: optionalPath,
      sequence: path.min(1),
      /** The number of a stream's first entry. */
      first_sequence: z.int().min(0).max(1).default(1),
      entry_id: optionalPath,
      /** When the service recorded it: RFC 3339, ISO 8601 without a zone (then it is UTC), or a Unix time. */
      timestamp: optionalPath,
      timestamp_unit: z.enum(['text', 'seconds', 'milliseconds']).default('text'),
      /** When it happened, as the caller said, in the same unit; an entry may lack it. */
      occurred_at: optionalPath.optional(),
      previous: path.min(1),
      digest: path.min(1),
      /**
       * The actor, the action and the resource. Only where all three are named is it known that other members are none
       * of them, and may be left unhashed.
       */
      actor: rolePaths,
      action: rolePaths,
      resource: rolePaths,
    }),
    digest: digestSchema,
    seal: sealSchema.nullable(),
    /** The evidence of other services of the platform; without it, nothing can be collected from them. */
    supplements: supplementsSchema.optional(),
  })
  .refine(({ generate, entry }) => generate.scope === 'stream' || entry.stream_id !== null, {
    message: 'must be known where a package holds all streams',
    path: ['entry', 'stream_id'],
  });
export type Description = z.infer<typeof descriptionSchema>;
