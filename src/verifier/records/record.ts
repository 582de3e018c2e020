// Over 250 lines: the forms of all records that a run leaves.

import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { Rows } from '../../core/rows/rows.ts';
import { STATUSES } from '../claims/claim.ts';
import {
  collectedSchema,
  operatorSchema,
  periodSchema,
  seenHeadSchema,
  serviceStatementSchema,
  streamStatementSchema,
} from '../claims/schemas.ts';
import { findingSchema, verdictSchema } from '../claims/verdict-schema.ts';
import {
  type LongFormat,
  type LongMember,
  type RecordFormat,
  runIdSchema,
  sha256Schema,
  timeSchema,
} from '../model/schemas.ts';
import { contradictionSchema } from './contradiction.ts';
import { controlsSchema } from './controls.ts';
import { coverageSchema } from './coverage.ts';
import { scopeSchema, sourceSchema } from './question.ts';
import { binding, bundleSchema, type StoredAs, storedSchema } from './stored-object.ts';
import { runSupplementsSchema, supplementCountsSchema } from './supplements.ts';

/**
 * The record that a run leaves in the archive besides its bundles. Digests are lower-case hex SHA-256 unless the
 * service's own contract says otherwise, times RFC 3339 in UTC, periods half-open.
 */

const count = z.int().min(0);

/** `runs/<run-id>/streams/<slug>.json`: one stream is done. */
export const streamRecordSchema = z.strictObject({
  format: z.literal(FORMATS.stream),
  run_id: runIdSchema,
  ...verdictSchema.shape,
  partial: z.boolean(),
  missing: z.array(z.strictObject({ form: z.string(), reason: z.string() })),
  collected: collectedSchema,
  service: serviceStatementSchema,
  bundle: bundleSchema,
  recorded_at: timeSchema,
  binding,
});
export type StreamRecord = z.infer<typeof streamRecordSchema>;

/** Bytes of a run record. That of 100,000 streams has 330 MB. */
export const MAX_RUN_RECORD_BYTES = 2 ** 30;
/** Bytes of the record of a stream that is read. */
const MAX_STREAM_RECORD_BYTES = 48 * 2 ** 20;

export const STREAM_RECORD: RecordFormat<StreamRecord> = {
  schema: streamRecordSchema,
  maxBytes: MAX_STREAM_RECORD_BYTES,
};

/**
 * `runs/<run-id>/encrypted/<sha256 of the object>.json`: what an encrypted bundle holds, written before it is stored.
 * Without it nobody but a recipient could tell, and an interrupted export could not go on with the bundle.
 */
export const encryptedBundleSchema = streamRecordSchema.extend({ format: z.literal(FORMATS.encryptedBundle) });
export const ENCRYPTED_BUNDLE: RecordFormat<z.infer<typeof encryptedBundleSchema>> = {
  schema: encryptedBundleSchema,
  maxBytes: MAX_STREAM_RECORD_BYTES,
};

/** A stream in the run record: its record, and the record's own place and digest. */
const runStreamSchema = streamRecordSchema
  .omit({ format: true, run_id: true, recorded_at: true, binding: true })
  .extend({
    /** Null for a stream of an attempt, which has none. */
    record: storedSchema.nullable(),
  });
export type RunStream = z.infer<typeof runStreamSchema>;

export const reconciliationSchema = z.strictObject({
  listed: count,
  exported: count,
  partial: count,
  failed: count,
  empty: count,
  excluded: count,
});
export type Reconciliation = z.infer<typeof reconciliationSchema>;

/** Streams, and apart from them the services that supplements are collected from. */
export const runReconciliationSchema = reconciliationSchema.extend({ supplements: supplementCountsSchema });

export type LedgerHead = z.infer<typeof seenHeadSchema>;

/** A stream that earlier runs, or an earlier try of this one, exported and that the service no longer lists. */
export const vanishedSchema = z.strictObject({
  stream_id: z.string(),
  /** Its last good head. */
  head: seenHeadSchema,
  /** The number of its entries that earlier runs had, each counted once. */
  entries: count,
  finding: findingSchema,
});
export type Vanished = z.infer<typeof vanishedSchema>;

/**
 * `acceptances/<slug>-<time>.json`: somebody explains, for ever, why a stream was ended or began anew, so that its
 * continuity is not compared with the head it had.
 */
export const acceptanceSchema = z.strictObject({
  format: z.literal(FORMATS.acceptance),
  stream_id: z.string(),
  reason: z.string(),
  accepted_by: operatorSchema,
  accepted_at: timeSchema,
  head: seenHeadSchema,
  contradiction: contradictionSchema,
});
export type Acceptance = z.infer<typeof acceptanceSchema>;

export const ACCEPTANCE: RecordFormat<Acceptance> = { schema: acceptanceSchema, maxBytes: 2 ** 20 };

/** Recorded act of giving up a run that the ledger does not record. */
export interface Abandonment {
  run_id: string;
  reason: string;
  abandoned_by: z.infer<typeof operatorSchema>;
  abandoned_at: string;
}

export const streamFailureSchema = z.strictObject({ stream_id: z.string(), reason: z.string(), next_step: z.string() });
export type StreamFailure = z.infer<typeof streamFailureSchema>;

const REQUEST_PURPOSES = [
  'list_streams',
  'check_stream',
  'generate_package',
  'await_package',
  'download_json',
  'download_pdf',
  'download_summary',
  'list_entries',
] as const;
export type RequestPurpose = (typeof REQUEST_PURPOSES)[number];

/** A request by which evidence was collected; see `client/operations.ts`. */
const requestSchema = z.strictObject({
  purpose: z.enum(REQUEST_PURPOSES),
  method: z.enum(['GET', 'POST']),
  /** Below the service's address; ids in braces stand for those of each stream and package. */
  path: z.string(),
  /** The parameters of the query, as `name=value`, or the body as JSON. */
  parameters: z.array(z.string()),
});

/** A stream, with what the list stated of it; null for what it did not. */
const listedStreamSchema = z.strictObject({ stream_id: z.string(), ...streamStatementSchema.shape });

/** The service's list of streams, as it was when the export began: which streams there are rests on it. */
const streamListSchema = z.strictObject({
  pages: z.array(z.strictObject({ path: z.string(), streams: count, bytes: count, sha256: sha256Schema })),
  streams: z.array(listedStreamSchema),
});
export interface StreamList extends Omit<z.infer<typeof streamListSchema>, 'streams'> {
  streams: Rows<z.infer<typeof listedStreamSchema>>;
}

/** The facts in the reports that are nowhere else in the record. */
const reportSchema = z.strictObject({
  organisation: z.string().nullable(),
  /** The name of the person who answers for the evidence; null where only the account is known that the program ran under. */
  prepared_by: z.string().nullable(),
  oscal: z.boolean(),
  controls: z.array(controlsSchema),
});
export type ReportOptions = z.infer<typeof reportSchema>;

/** A run that was finalized before this one. */
export const earlierRunSchema = coverageSchema.extend({
  run_id: runIdSchema,
  outcome: z.enum(STATUSES),
  finished_at: timeSchema,
  /** Those that it exported. */
  streams: count,
  entries: count,
});
export type EarlierRun = z.infer<typeof earlierRunSchema>;

/** An object of the run that is neither a bundle nor a record of one, e.g. `report.pdf`. */
export const documentSchema = storedSchema.extend({ name: z.string() });
export type RunDocument = z.infer<typeof documentSchema>;

const exclusionSchema = z.strictObject({ stream_id: z.string(), reason: z.string() });
export type Exclusion = z.infer<typeof exclusionSchema>;

/** `runs/<run-id>/run.json`: written last, it makes the run one that is finalized. */
export const runRecordSchema = z.strictObject({
  format: z.literal(FORMATS.run),
  run_id: runIdSchema,
  outcome: z.enum(STATUSES),
  exit_code: z.int(),
  scope: scopeSchema,
  period: periodSchema,
  /** Runs of the same name that this one takes the place of, the oldest first; see `ledger/given-up.ts`. */
  supersedes: z.array(runIdSchema),
  /** The period that its packages were asked for: all there is where the service cannot select one. */
  package_period: periodSchema,
  source: sourceSchema.extend({
    /** The fields of entries that say when one was recorded and when it happened. The period is one of the former. */
    time_fields: z.strictObject({ recorded: z.string().nullable(), occurred: z.string().nullable() }),
    /** The address that the service had in the runs before, where somebody said that it moved. */
    moved_from: z.string().nullable(),
    requests: z.array(requestSchema),
  }),
  /** `commit` of the checkout it ran from, with "-dirty" after it where files differed; null for an installed package. */
  tool: z.strictObject({ name: z.string(), version: z.string(), commit: z.string().nullable() }),
  operator: operatorSchema,
  /** When the run was begun, and the same by the service's clock, null where it did not say. */
  begun_at: timeSchema,
  begun_at_by_service: timeSchema.nullable(),
  /** The rest is of the attempt that finalized it. */
  started_at: timeSchema,
  /** When nothing was left to collect. */
  finished_at: timeSchema,
  /** Every export that worked on it, the oldest first; `ended_at` is null for one that was interrupted. */
  attempts: z.array(z.strictObject({ started_at: timeSchema, ended_at: timeSchema.nullable() })),
  stream_list: streamListSchema,
  streams: z.array(runStreamSchema),
  excluded: z.array(exclusionSchema),
  failed: z.array(streamFailureSchema),
  vanished: z.array(vanishedSchema),
  /** Streams in scope that the service does not list, of which somebody accepted that they ended or began anew. */
  ended: z.array(vanishedSchema),
  /** Every acceptance in the ledger, for as long as the ledger lives. */
  acceptances: z.array(acceptanceSchema),
  reconciliation: runReconciliationSchema,
  /** Null where none of the services beside the audit service was configured. */
  supplements: runSupplementsSchema.nullable(),
  warnings: z.array(z.string()),
  /** True if the run has a signed statement (run.dsse.json). */
  signed: z.boolean(),
  /** The authority that was to time-stamp this record (run.tsr), without what is secret in its URL; null for none. */
  timestamp_authority: z.string().nullable(),
  report: reportSchema,
  /** The newest of the runs in the ledger at that time, oldest first. */
  earlier_runs: z.array(earlierRunSchema),
  /** The number of its streams that were not received by the export that finalized it, but by an interrupted try or another process. */
  recovered: count,
  /** All else that lay under the run: what is written down of encrypted bundles, earlier tries, and no evidence. */
  left_over: z.array(storedSchema),
  /** Made from the rest of this record. */
  documents: z.array(documentSchema),
  binding,
});
/** Lists of a run that may be too long for memory. */
interface RunLists {
  stream_list: StreamList;
  excluded: Rows<Exclusion>;
  failed: Rows<StreamFailure>;
  vanished: Rows<Vanished>;
  ended: Rows<Vanished>;
  left_over: Rows<StoredAs>;
}
export interface RunRecord extends Omit<z.infer<typeof runRecordSchema>, 'streams' | keyof RunLists>, RunLists {
  streams: Rows<RunStream>;
}

const RUN_LISTS: readonly LongMember[] = [
  { path: ['stream_list', 'streams'], kind: 'list', schema: listedStreamSchema },
  { path: ['excluded'], kind: 'list', schema: exclusionSchema },
  { path: ['failed'], kind: 'list', schema: streamFailureSchema },
  { path: ['vanished'], kind: 'list', schema: vanishedSchema },
  { path: ['ended'], kind: 'list', schema: vanishedSchema },
  { path: ['left_over'], kind: 'list', schema: storedSchema },
];

export const RUN_RECORD: LongFormat<RunRecord> = {
  schema: runRecordSchema,
  maxBytes: MAX_RUN_RECORD_BYTES,
  long: [...RUN_LISTS, { path: ['streams'], kind: 'list', schema: runStreamSchema }],
};

/**
 * `runs/<run-id>/run-draft.json`: the run record as far as it is known before the reports are made. An interrupted end of an export
 * goes on from it, so that they come out the same.
 */
export const runDraftSchema = runRecordSchema.omit({ format: true, streams: true, documents: true }).extend({
  format: z.literal(FORMATS.runDraft),
  /** The records of its streams. */
  streams: z.array(storedSchema),
});
export interface RunDraft extends Omit<z.infer<typeof runDraftSchema>, 'streams' | keyof RunLists>, RunLists {
  streams: Rows<StoredAs>;
}

export const RUN_DRAFT: LongFormat<RunDraft> = {
  schema: runDraftSchema,
  maxBytes: MAX_RUN_RECORD_BYTES,
  long: [...RUN_LISTS, { path: ['streams'], kind: 'list', schema: storedSchema }],
};
