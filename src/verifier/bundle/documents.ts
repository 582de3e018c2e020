import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import { CLAIMS } from '../claims/claim.ts';
import {
  notListedSchema,
  operatorSchema,
  periodSchema,
  restartSchema,
  secretsFoundSchema,
  spanSchema,
  streamStatementSchema,
  unfetchedSchema,
} from '../claims/schemas.ts';
import { verdictSchema } from '../claims/verdict-schema.ts';
import { failureSchema } from '../model/failure.ts';
import { type RecordFormat, runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { SUPPLEMENT_SERVICES } from '../supplements/files.ts';
import type { BagStatus } from './layout.ts';
import { describePeriod } from './period.ts';

/** Statement of the service's list of streams, read before the package was requested. */
const statementSchema = streamStatementSchema.extend({
  /** Start of the export that read it, by its own clock; RFC 3339. */
  read_at: timeSchema,
});

/** `data/verification.json`: what was checked, by what means, and with what result. */
export const verificationSchema = z.strictObject({
  format: z.literal(FORMATS.verification),
  run_id: runIdSchema,
  period: periodSchema,
  /** Period for which the package was requested; unbounded if the service cannot select one. */
  package_period: periodSchema,
  verified_at: timeSchema,
  tool: z.strictObject({ name: z.string(), version: z.string() }),
  contract: z.string(),
  /** SHA-256 of the contract file in the bundle; null for the default contract. */
  contract_sha256: sha256Schema.nullable(),
  /** Null if no recipe is known. */
  recipe: z.string().nullable(),
  required_claims: z.array(z.enum(CLAIMS)),
  seal_key_ids: z.array(z.string()),
  /** Roles and members that the exporter accepted as not covered by digests; a reader decides again. */
  accepted_unhashed: z.array(z.string()),
  /** SHA-256 fingerprints of the pinned roots of time-stamping authorities; null if none were pinned. */
  timestamp_roots: z.array(z.string()).nullable(),
  /** Spans with which continuity was compared: those of all earlier runs, oldest first. */
  earlier: z.array(spanSchema),
  statement: statementSchema,
  /** Answer of the service about entries after the last exported one; null if it was not asked. */
  unfetched: unfetchedSchema.nullable(),
  /** Number of entries that the service stated when the package was ready. */
  package_entries: z.int().min(0).nullable(),
  secrets: secretsFoundSchema,
  /** Accepted restarts of the stream, oldest first. */
  accepted_restarts: z.array(restartSchema),
  /** Basis of completeness. The listing itself is `data/listing.csv`. */
  completeness: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('listing') }),
    z.strictObject({ kind: z.literal('record'), ...notListedSchema.shape }),
    z.strictObject({ kind: z.literal('none'), ...notListedSchema.shape }),
  ]),
  /** Answer of the service's own Verify operation. */
  vendor: z
    .strictObject({
      verified: z.boolean(),
      checked_at: z.string().nullable(),
      failed_sequences: z.array(z.number()),
    })
    .nullable(),
  verdict: verdictSchema,
  does_not_prove: z.array(z.string()),
});
export type Verification = z.infer<typeof verificationSchema>;

const MAX_DOCUMENT_BYTES = 256 * 2 ** 20;
export const VERIFICATION_DOCUMENT = { schema: verificationSchema, maxBytes: MAX_DOCUMENT_BYTES };

/** Request and its answer. */
const exchangeSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  /** Path and query without the origin, of the address that answered after redirects. */
  path: z.string(),
  requested_at: timeSchema,
  /** 206 for a resumed download: date and request id are those of its last part. */
  status: z.int(),
  /** Date header of the answer: the service's own clock. */
  date: z.string().nullable(),
  request_id: z.string().nullable(),
  /** Number of attempts, including the successful one. */
  attempts: z.int(),
  /** Length and digest of the whole content, without its content coding. */
  bytes: z.int().min(0),
  sha256: sha256Schema,
});

/** `data/transfer-log.json`: who requested what and when, and what arrived. */
export const transferLogSchema = z.strictObject({
  format: z.literal(FORMATS.transferLog),
  run_id: runIdSchema,
  stream_id: z.string(),
  audit_url: z.string(),
  operator: operatorSchema,
  request: z.string().nullable(),
  requested_by: z.string().nullable(),
  /** Start of the export that received this, and time at which everything had arrived, by the export's clock. */
  export_started_at: timeSchema,
  received_at: timeSchema,
  steps: z.array(
    z.strictObject({
      step: z.string(),
      file: z.string().optional(),
      exchange: exchangeSchema.optional(),
      /** Reason why nothing was requested. */
      skipped: z.literal('not_in_contract').optional(),
      /** Entries and pages received; for `listing` only. */
      listed: z.strictObject({ entries: z.int().min(0), pages: z.int().min(0) }).optional(),
      /** First and last number that no export has; for `unfetched` only. */
      range: z.strictObject({ from: z.int(), to: z.int() }).optional(),
      failure: failureSchema.optional(),
    }),
  ),
});
export type TransferLog = z.infer<typeof transferLogSchema>;

const MAX_LOG_BYTES = 64 * 2 ** 20;
export const TRANSFER_LOG_DOCUMENT: RecordFormat<TransferLog> = { schema: transferLogSchema, maxBytes: MAX_LOG_BYTES };

/**
 * `data/transfer-log.json` of a bag with supplements: has the addresses of the services instead of that of one stream.
 */
export const supplementTransferLogSchema = transferLogSchema
  .omit({ stream_id: true, audit_url: true })
  .extend({ services: z.partialRecord(z.enum(SUPPLEMENT_SERVICES), z.string()) });
export type SupplementTransferLog = z.infer<typeof supplementTransferLogSchema>;
export const SUPPLEMENT_TRANSFER_LOG = { schema: supplementTransferLogSchema, maxBytes: MAX_DOCUMENT_BYTES };

/** `data/service.json`: statements of the service about the stream apart from its package. Texts are JSON as sent. */
export const serviceSchema = z.strictObject({
  format: z.literal(FORMATS.service),
  run_id: runIdSchema,
  stream_id: z.string(),
  /** Record of the stream in the list of streams. */
  stream_record: z.string(),
  /** Answer to the service's own check of the stream; null if it was not asked or did not answer. */
  check_answer: z.string().nullable(),
  /** Source of `data/listing.csv`; null without one. */
  listing: z
    .strictObject({
      /**
       * Pages as received, with the number of entries of the period in each. Their sum is the number of lines of the
       * listing.
       */
      pages: z.array(
        z.strictObject({ path: z.string(), entries: z.int().min(0), bytes: z.int().min(0), sha256: sha256Schema }),
      ),
      /** Time of the package's request, by the export's clock and, at the earliest, by the service's. */
      asked_at: timeSchema,
      asked_at_by_service: timeSchema.nullable(),
      /** Latest plausible time of an entry; a later one is wrong. */
      latest: timeSchema,
    })
    .nullable(),
});
export type ServiceDocument = z.infer<typeof serviceSchema>;
export const SERVICE_DOCUMENT: RecordFormat<ServiceDocument> = { schema: serviceSchema, maxBytes: MAX_DOCUMENT_BYTES };

/** Limits of the proof, stated in every bundle and every report. */
export const DOES_NOT_PROVE: readonly string[] = [
  'that the service logged everything that happened',
  'that what an entry says is true',
  'that seals are genuine, where the seal key was not given',
  'that anything was unchanged before the first anchor or the first export',
];

/** Returns the fields of `bag-info.txt` that follow from other statements of the bundle. */
export function bagInfo(
  { tool, run_id, period, verdict }: Pick<Verification, 'tool' | 'run_id' | 'period' | 'verdict'>,
  status: BagStatus,
): [label: string, value: string][] {
  const { stream_id: streamId } = verdict;
  return [
    ['Bag-Software-Agent', `${tool.name} ${tool.version}`],
    ['External-Identifier', `${run_id}/${streamId}`],
    ['External-Description', `Audit evidence of the stream ${streamId}, ${describePeriod(period)}`],
    ['Evidence-Status', status],
  ];
}
