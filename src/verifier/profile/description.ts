import { z } from 'zod';
import { digestSchema, sealSchema } from './digest-description.ts';
import { listSchema, parameter, urlPath } from './list-description.ts';
import { path } from './path-schema.ts';
import { supplementsSchema } from './supplements.ts';

/**
 * Contract file: how one kind of audit service writes its lists, packages and digests. Data only: nothing in it runs.
 * The interface's paths and methods are the defaults in `DEFAULT_DESCRIPTION`; a file states all of them.
 */

/** Path of a value that the service may not show. */
const optionalPath = path.min(1).nullable();
/** Paths of a value that the service may spread over several members. */
const rolePaths = z
  .union([path.min(1), z.array(path.min(1)).min(1)])
  .nullable()
  .optional();
const body = z.record(z.string(), z.json());

export const descriptionSchema = z
  .strictObject({
    format: z.literal('evidence-contract/1'),
    name: z.string().min(1).max(100),
    /** Form in which counts and sequence numbers are sent: JSON numbers or text. */
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
    /** Listing of one stream's entries; null if the service has none, or none per stream. */
    entries: listSchema
      .extend({
        stream_parameter: parameter,
        from_parameter: parameter.nullable(),
        to_parameter: parameter.nullable(),
        /** Parameter that selects entries with a higher number than its value; null if there is none. */
        after_parameter: parameter.nullable().default(null),
        /** Order by sequence number. */
        order: z.enum(['ascending', 'descending', 'unordered']),
      })
      .nullable(),
    /** Service's own check of a stream; null if its path is not known. */
    verify: z
      .strictObject({
        path: urlPath,
        body,
        fields: z.strictObject({
          verified: path.min(1),
          checked_at: optionalPath,
          failures: optionalPath,
          /** Path in a failure. */
          failure_sequence: optionalPath,
        }),
      })
      .nullable(),
    generate: z.strictObject({
      path: urlPath,
      /** Sent with {stream_id}, {from} and {to} filled in; a member for an open end of the period is left out. */
      body,
      idempotency_header: z.string().min(1).nullable(),
      /** Content of a package: one stream, or the whole account. */
      scope: z.enum(['stream', 'account']),
      fields: z.strictObject({
        package_id: path.min(1),
        stream_id: optionalPath,
        /** Number of entries in the answer that reports the package ready. */
        entry_count: optionalPath.default(null),
      }),
      ready: z.discriminatedUnion('when', [
        z.strictObject({ when: z.literal('at-once') }),
        /** Ready when a download succeeds: until then, it answers with a status in `not_yet`. */
        z.strictObject({ when: z.literal('download-answers'), not_yet: z.array(z.int().min(200).max(599)).min(1) }),
        /** Ready when a field says so, in the answer of generate or, later, of `path`. */
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
    /** JSON form. */
    package: z.strictObject({
      entries: path,
      /** Text that identifies this form of package. */
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
    /** Null if the summary is not JSON. */
    summary: z
      .strictObject({
        package_id: optionalPath,
        stream_id: optionalPath,
        entry_count: optionalPath,
        head_digest: optionalPath,
        /** Object with the number of entries per action. */
        actions: optionalPath.default(null),
      })
      .nullable(),
    entry: z.strictObject({
      stream_id: optionalPath,
      sequence: path.min(1),
      /** Number of a stream's first entry. */
      first_sequence: z.int().min(0).max(1).default(1),
      entry_id: optionalPath,
      /** Time of recording by the service: RFC 3339, ISO 8601 without a zone (taken as UTC), or a Unix time. */
      timestamp: optionalPath,
      timestamp_unit: z.enum(['text', 'seconds', 'milliseconds']).default('text'),
      /** Time of the event as the caller stated it, in the same unit; an entry may lack it. */
      occurred_at: optionalPath.optional(),
      previous: path.min(1),
      digest: path.min(1),
      /**
       * Actor, action and resource. Only if all three are specified are other members known to be none of them, and may
       * stay unhashed.
       */
      actor: rolePaths,
      action: rolePaths,
      resource: rolePaths,
    }),
    digest: digestSchema,
    seal: sealSchema.nullable(),
    /** Evidence of other services of the platform; if absent, nothing can be collected from them. */
    supplements: supplementsSchema.optional(),
  })
  .refine(({ generate, entry }) => generate.scope === 'stream' || entry.stream_id !== null, {
    message: 'must be known where a package holds all streams',
    path: ['entry', 'stream_id'],
  });
export type Description = z.infer<typeof descriptionSchema>;
