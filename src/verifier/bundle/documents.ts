import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import { CLAIMS } from '../claims/claim.ts';
import {
  operatorSchema,
  periodSchema,
  restartSchema,
  secretsFoundSchema,
  spanSchema,
  streamStatementSchema,
  unfetchedSchema,
} from '../claims/schemas.ts';
import { verdictSchema } from '../claims/verdict-schema.ts';
import { type RecordFormat, runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { SUPPLEMENT_SERVICES } from '../supplements/files.ts';
import type { BagStatus } from './layout.ts';
import { describePeriod } from './period.ts';

/** The stream as the service's list stated it, before its package was asked for. */
const statementSchema = streamStatementSchema.extend({
  /** When the export that read it had begun, by its own clock; RFC 3339. */
  read_at: timeSchema,
});

/** `data/verification.json`: what was checked, with what, and what it came to. */
export const verificationSchema = z.strictObject({
  format: z.literal(FORMATS.verification),
  run_id: runIdSchema,
  period: periodSchema,
  /** The period that the package was asked for: all there is where the service cannot select one. */
  package_period: periodSchema,
  verified_at: timeSchema,
  tool: z.strictObject({ name: z.string(), version: z.string() }),
  contract: z.string(),
  /** The digest of the contract file in the bundle; null for the default contract. */
  contract_sha256: sha256Schema.nullable(),
  /** Null where none is known. */
  recipe: z.string().nullable(),
  required_claims: z.array(z.enum(CLAIMS)),
  seal_key_ids: z.array(z.string()),
  /** Roles and members that who exported accepted to be left out of digests; a reader decides anew. */
  accepted_unhashed: z.array(z.string()),
  /** SHA-256 fingerprints of the pinned roots of time-stamping authorities; null when none were pinned. */
  timestamp_roots: z.array(z.string()).nullable(),
  /** The spans that continuity was compared with: those of all earlier runs, the oldest first. */
  earlier: z.array(spanSchema),
  statement: statementSchema,
  /** Entries that the service listed after the last one that any export has; null where it was not asked. */
  unfetched: unfetchedSchema.nullable(),
  /** The number of entries that the service stated when the package was ready. */
  package_entries: z.int().min(0).nullable(),
  secrets: secretsFoundSchema,
  /** Restarts of the stream that somebody accepted, the oldest first. */
  accepted_restarts: z.array(restartSchema),
  /** The basis of completeness: the listing itself is `data/listing.csv`. */
  completeness: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('listing') }),
    z.strictObject({ kind: z.literal('record'), reason: z.string() }),
    z.strictObject({ kind: z.literal('none'), reason: z.string() }),
  ]),
  /** The answer of the service's own Verify operation. */
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
export const VERIFICATION_DOCUMENT: RecordFormat<Verification> = {
  schema: verificationSchema,
  maxBytes: MAX_DOCUMENT_BYTES,
};

/** One request and its answer. */
const exchangeSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  /** Path and query, without the origin; of the address that answered, after redirects. */
  path: z.string(),
  requested_at: timeSchema,
  /** 206 when a download was resumed: date and request id are then those of its last part. */
  status: z.int(),
  /** The answer's Date header: the service's own clock. */
  date: z.string().nullable(),
  request_id: z.string().nullable(),
  /** The number of tries, this one included. */
  attempts: z.int(),
  /** Length and digest of the content, whole and without its content coding. */
  bytes: z.int().min(0),
  sha256: sha256Schema,
});

/** `data/transfer-log.json`: who asked for what, when, and what came. */
export const transferLogSchema = z.strictObject({
  format: z.literal(FORMATS.transferLog),
  run_id: runIdSchema,
  stream_id: z.string(),
  audit_url: z.string(),
  operator: operatorSchema,
  request: z.string().nullable(),
  requested_by: z.string().nullable(),
  /** When the export began that received this, and when all had arrived; by its own clock. */
  export_started_at: timeSchema,
  received_at: timeSchema,
  steps: z.array(
    z.strictObject({
      step: z.string(),
      file: z.string().optional(),
      exchange: exchangeSchema.optional(),
      /** The reason that nothing was asked. */
      skipped: z.literal('not_in_contract').optional(),
      /** `listing`: the entries and pages received. */
      listed: z.strictObject({ entries: z.int().min(0), pages: z.int().min(0) }).optional(),
      /** `unfetched`: the first and last number that no export has. */
      range: z.strictObject({ from: z.int(), to: z.int() }).optional(),
      failure: z.string().optional(),
    }),
  ),
});
export type TransferLog = z.infer<typeof transferLogSchema>;

const MAX_LOG_BYTES = 64 * 2 ** 20;
export const TRANSFER_LOG_DOCUMENT: RecordFormat<TransferLog> = { schema: transferLogSchema, maxBytes: MAX_LOG_BYTES };

/** `data/transfer-log.json` of a bag with supplements: the addresses of the services in place of that of one stream. */
export const supplementTransferLogSchema = transferLogSchema
  .omit({ stream_id: true, audit_url: true })
  .extend({ services: z.partialRecord(z.enum(SUPPLEMENT_SERVICES), z.string()) });
export type SupplementTransferLog = z.infer<typeof supplementTransferLogSchema>;
export const SUPPLEMENT_TRANSFER_LOG: RecordFormat<SupplementTransferLog> = {
  schema: supplementTransferLogSchema,
  maxBytes: MAX_DOCUMENT_BYTES,
};

/** A moment of the comparison with the listing; RFC 3339. */

/** `data/service.json`: what the service stated of the stream besides its package. Texts are JSON as it was sent. */
export const serviceSchema = z.strictObject({
  format: z.literal(FORMATS.service),
  run_id: runIdSchema,
  stream_id: z.string(),
  /** The stream's record in the list of streams. */
  stream_record: z.string(),
  /** The answer to its own check of the stream; null where it was not asked, or did not answer. */
  check_answer: z.string().nullable(),
  /** The source of `data/listing.csv`; null without one. */
  listing: z
    .strictObject({
      /** As they were received, and how many entries of the period stand in each: as many lines has the listing in all. */
      pages: z.array(
        z.strictObject({ path: z.string(), entries: z.int().min(0), bytes: z.int().min(0), sha256: sha256Schema }),
      ),
      /** When the package was asked for, by the clock of the export and, at the earliest, by that of the service. */
      asked_at: timeSchema,
      asked_at_by_service: timeSchema.nullable(),
      /** An entry dated after this is dated wrongly. */
      latest: timeSchema,
    })
    .nullable(),
});
export type ServiceDocument = z.infer<typeof serviceSchema>;
export const SERVICE_DOCUMENT: RecordFormat<ServiceDocument> = { schema: serviceSchema, maxBytes: MAX_DOCUMENT_BYTES };

/** Said in every bundle and every report. */
export const DOES_NOT_PROVE: readonly string[] = [
  'that the service logged everything that happened',
  'that what an entry says is true',
  'that seals are genuine, where the seal key was not given',
  'that anything was unchanged before the first anchor or the first export',
];

/** The fields of `bag-info.txt` that follow from what the bundle says elsewhere. */
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
