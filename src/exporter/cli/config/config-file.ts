import { z } from 'zod';
import { parseYaml } from '../../../core/yaml.ts';
import { CLAIMS } from '../../../verifier/claims/claim.ts';

/** Seconds, at most a day: a larger number is probably in the wrong unit. */
const secondsSchema = z.number().positive().max(86_400);

/** Schema of `evidence.yaml`. Paths in it are relative to the file. */
export const configSchema = z.strictObject({
  source: z
    .strictObject({
      audit_url: z.url({ protocol: /^https?$/ }).optional(),
      traps_url: z.url({ protocol: /^https?$/ }).optional(),
      endpoints_url: z.url({ protocol: /^https?$/ }).optional(),
      agents_url: z.url({ protocol: /^https?$/ }).optional(),
      api_key_file: z.string().optional(),
      contract: z.string().optional(),
      rate: z
        .strictObject({
          concurrency: z.int().min(1).max(64).optional(),
          // A lower rate is probably in the wrong unit.
          requests_per_second: z.number().min(0.01).optional(),
          least_bytes_per_second: z.int().min(1).optional(),
        })
        .optional(),
      timeouts: z
        .strictObject({
          connect_seconds: secondsSchema.optional(),
          headers_seconds: secondsSchema.optional(),
          idle_seconds: secondsSchema.optional(),
          request_seconds: secondsSchema.optional(),
          download_seconds: secondsSchema.optional(),
          retry_after_seconds: secondsSchema.optional(),
        })
        .optional(),
      limits: z
        .strictObject({
          // The whole document must fit into one string.
          json_bytes: z
            .int()
            .min(1)
            .max(2 ** 28)
            .optional(),
          package_bytes: z.int().min(1).optional(),
          pages: z.int().min(1).max(30_000).optional(),
        })
        .optional(),
      tls: z
        .strictObject({
          ca_file: z.string().optional(),
          cert_file: z.string().optional(),
          key_file: z.string().optional(),
        })
        .refine((tls) => (tls.cert_file === undefined) === (tls.key_file === undefined), {
          error: 'cert_file and key_file must be given together',
        })
        .optional(),
    })
    .optional(),
  verify: z
    .strictObject({
      require: z.array(z.enum(CLAIMS)).min(1).optional(),
      accept_unhashed: z.array(z.string().min(1)).optional(),
      accept_secrets: z.boolean().optional(),
      completeness: z.enum(['listing', 'record', 'off']).optional(),
      seal_keys: z.union([z.string().min(1), z.record(z.string(), z.string())]).optional(),
      timestamp_roots: z.string().optional(),
      public_keys: z.array(z.string()).optional(),
    })
    .optional(),
  sign: z
    .strictObject({
      key_file: z.string().optional(),
      passphrase_file: z.string().optional(),
      tsa_url: z.url({ protocol: /^https?$/ }).optional(),
      tsa_roots: z.string().optional(),
    })
    .refine((sign) => sign.passphrase_file === undefined || sign.key_file !== undefined, {
      error: 'passphrase_file needs key_file; without it, nothing would be signed',
    })
    .optional(),
  /** All settings except `url` and `encrypt_to` apply to archives in S3 only. */
  archive: z
    .strictObject({
      url: z
        .string()
        .min(1)
        .regex(/^(?!~)/, 'only a shell expands ~; write the full path')
        .optional(),
      endpoint: z.string().optional(),
      region: z.string().min(1).optional(),
      profile: z.string().min(1).optional(),
      path_style: z.boolean().optional(),
      ca_file: z.string().optional(),
      retention: z
        .strictObject({
          mode: z.enum(['governance', 'compliance']),
          years: z.int().min(1).max(100),
          max_years: z.int().min(1).max(100).optional(),
        })
        .refine(({ years, max_years = years }) => years <= max_years, { error: 'max_years is less than years' })
        .optional(),
      legal_hold: z.boolean().optional(),
      kms_key_id: z.string().min(1).optional(),
      encrypt_to: z.array(z.string().min(1)).min(1).max(20).optional(),
    })
    .optional(),
  work_directory: z.string().min(1).optional(),
  deadline: z.string().min(1).optional(),
  notify: z
    .strictObject({
      ping_url_file: z.string().optional(),
      webhook_url_file: z.string().optional(),
      webhook_secret_file: z.string().optional(),
      metrics_file: z.string().optional(),
    })
    .optional(),
  /** Queue of runs that several machines work on. */
  queue: z
    .strictObject({
      url_file: z.string().optional(),
      schema: z
        .string()
        .regex(
          /^[a-z_][a-z0-9_]{0,49}$/,
          'a schema name consists of lowercase letters, digits and _, and does not start with a digit',
        )
        .optional(),
    })
    .optional(),
  report: z
    .strictObject({
      organisation: z.string().min(1).max(200).optional(),
      prepared_by: z.string().min(1).max(200).optional(),
      controls: z.union([z.string().min(1), z.array(z.string().min(1))]).optional(),
      oscal: z.boolean().optional(),
    })
    .optional(),
});
export type FileConfig = z.infer<typeof configSchema>;

/**
 * Parses the text of `evidence.yaml`.
 * @param path of the file, for errors.
 * @throws EvidenceError `config` with file, line and column, and a suggestion for a misspelled name.
 */
export function parseConfigFile(text: string, path: string): FileConfig {
  return parseYaml(configSchema, text, path);
}
