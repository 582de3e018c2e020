// Over 250 lines: forms of all records that a run leaves.

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
import { failureSchema, missingFormSchema } from '../model/failure.ts';
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
 * Records that a run leaves in the archive besides its bundles. Digests are lower-case hex SHA-256 unless the service's
 * own contract specifies otherwise, times RFC 3339 in UTC, periods half-open.
 */

const count = z.int().min(0);

/** `runs/<run-id>/streams/<slug>.json`: record of a finished stream. */
export const streamRecordSchema = z.strictObject({
  format: z.literal(FORMATS.stream),
  run_id: runIdSchema,
  ...verdictSchema.shape,
  partial: z.boolean(),
  missing: z.array(missingFormSchema),
  collected: collectedSchema,
  service: serviceStatementSchema,
  bundle: bundleSchema,
  recorded_at: timeSchema,
  binding,
});
export type StreamRecord = z.infer<typeof streamRecordSchema>;

/** Maximum size of a run record. A run of 100,000 streams has a record of 330 MB. */
export const MAX_RUN_RECORD_BYTES = 2 ** 30;
/** Maximum size of a stream's record. */
const MAX_STREAM_RECORD_BYTES = 48 * 2 ** 20;

export const STREAM_RECORD = { schema: streamRecordSchema, maxBytes: MAX_STREAM_RECORD_BYTES };

/**
 * `runs/<run-id>/encrypted/<sha256 of the object>.json`: content of an encrypted bundle, written before it is stored.
 * Without this record only a recipient could tell the content, and an interrupted export could not continue with the
 * bundle.
 */
export const encryptedBundleSchema = streamRecordSchema.extend({ format: z.literal(FORMATS.encryptedBundle) });
export const ENCRYPTED_BUNDLE = { schema: encryptedBundleSchema, maxBytes: MAX_STREAM_RECORD_BYTES };

/** Stream in the run record: its record, and that record's place and digest. */
const runStreamSchema = streamRecordSchema
  .omit({ format: true, run_id: true, recorded_at: true, binding: true })
  .extend({
    /** Null for a stream of an attempt, which has no record. */
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

/** Counts of streams and, apart from them, of the services from which supplements are collected. */
export const runReconciliationSchema = reconciliationSchema.extend({ supplements: supplementCountsSchema });

export type LedgerHead = z.infer<typeof seenHeadSchema>;

/** Stream that earlier runs, or an earlier attempt of this one, exported and that the service no longer lists. */
export const vanishedSchema = z.strictObject({
  stream_id: z.string(),
  /** Last good head of the stream. */
  head: seenHeadSchema,
  /** Number of its entries that earlier runs had, each counted once. */
  entries: count,
  finding: findingSchema,
});
export type Vanished = z.infer<typeof vanishedSchema>;

/**
 * `acceptances/<slug>-<time>.json`: permanent explanation of why a stream ended or restarted, so that its continuity is
 * no longer compared with the head it had.
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

/** Recorded decision to give up a run that the ledger does not record. */
export interface Abandonment {
  run_id: string;
  reason: string;
  abandoned_by: z.infer<typeof operatorSchema>;
  abandoned_at: string;
}

export const streamFailureSchema = z.strictObject({
  stream_id: z.string(),
  ...failureSchema.shape,
  next_step: z.string(),
});
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

/** Request by which evidence was collected; see `client/operations.ts`. */
const requestSchema = z.strictObject({
  purpose: z.enum(REQUEST_PURPOSES),
  method: z.enum(['GET', 'POST']),
  /** Path below the service's address; names in braces stand for the ids of each stream and package. */
  path: z.string(),
  /** Parameters of the query as `name=value`, or the body as JSON. */
  parameters: z.array(z.string()),
});

/** Stream with the list's statements about it; null if not stated. */
const listedStreamSchema = z.strictObject({ stream_id: z.string(), ...streamStatementSchema.shape });

/** Service's list of streams at the start of the export, which determines the streams of the run. */
const streamListSchema = z.strictObject({
  pages: z.array(z.strictObject({ path: z.string(), streams: count, bytes: count, sha256: sha256Schema })),
  streams: z.array(listedStreamSchema),
});
export interface StreamList extends Omit<z.infer<typeof streamListSchema>, 'streams'> {
  streams: Rows<z.infer<typeof listedStreamSchema>>;
}

/** Codes of the warnings of a run. */
export const RUN_WARNING_CODES = [
  /** Clocks of this machine and of the service that differ. */
  'clock-skew',
  /** Earlier runs without a signature. */
  'unsigned-before',
  /** Earlier revisions that this run replaces. */
  'replaces',
  /** Service that cannot select a period. */
  'whole-streams',
  /** Encrypted bundle of an interrupted attempt, which was not read again. */
  'recovered-unread',
  /** Record of the run before that could not be read. */
  'earlier-runs-unread',
  /** Stream with later entries of an exported period. */
  'grown',
  /** Store that ignores create-only writes, with and without versions. */
  'create-only-by-versions',
  'create-only-ignored',
  /** Limitations of the store. */
  'no-versions',
  'no-checksums',
  'locks-unread',
  'versions-unlisted',
  'uploads-unlisted',
  /** Events of the store: a later version that hides the first, an object that was locked by a later attempt. */
  'left-covered',
  'locked-later',
] as const;

/** Warning of a run: its code, and the sentence for people. */
const runWarningSchema = z.strictObject({ code: z.enum(RUN_WARNING_CODES), message: z.string() });
export type RunWarning = z.infer<typeof runWarningSchema>;

/** Facts in the reports that are nowhere else in the record. */
const reportSchema = z.strictObject({
  organisation: z.string().nullable(),
  /** Name of the person who answers for the evidence; null if only the account that ran the program is known. */
  prepared_by: z.string().nullable(),
  oscal: z.boolean(),
  controls: z.array(controlsSchema),
});
export type ReportOptions = z.infer<typeof reportSchema>;

/** Run that was finalized before this one. */
export const earlierRunSchema = coverageSchema.extend({
  run_id: runIdSchema,
  outcome: z.enum(STATUSES),
  finished_at: timeSchema,
  /** Numbers of streams and entries that it exported. */
  streams: count,
  entries: count,
});
export type EarlierRun = z.infer<typeof earlierRunSchema>;

/** Object of the run that is neither a bundle nor the record of one, e.g. `report.pdf`. */
export const documentSchema = storedSchema.extend({ name: z.string() });
export type RunDocument = z.infer<typeof documentSchema>;

/** `pattern` is the one of `scope.exclude` that the stream matches; null where it matches none of `scope.streams`. */
const exclusionSchema = z.strictObject({ stream_id: z.string(), pattern: z.string().nullable() });
export type Exclusion = z.infer<typeof exclusionSchema>;

/** `runs/<run-id>/run.json`: written last; a run with this record is finalized. */
export const runRecordSchema = z.strictObject({
  format: z.literal(FORMATS.run),
  run_id: runIdSchema,
  outcome: z.enum(STATUSES),
  exit_code: z.int(),
  scope: scopeSchema,
  period: periodSchema,
  /** Runs of the same name that this one replaces, oldest first; see `ledger/given-up.ts`. */
  supersedes: z.array(runIdSchema),
  /** Period for which its packages were requested; unbounded if the service cannot select one. */
  package_period: periodSchema,
  source: sourceSchema.extend({
    /** Entry fields with the time of recording and the time of the event. The period applies to the former. */
    time_fields: z.strictObject({ recorded: z.string().nullable(), occurred: z.string().nullable() }),
    /** Address of the service in earlier runs, if the operator stated that it moved. */
    moved_from: z.string().nullable(),
    requests: z.array(requestSchema),
  }),
  /** `commit` of the checkout that ran, followed by "-dirty" if files differed; null for an installed package. */
  tool: z.strictObject({ name: z.string(), version: z.string(), commit: z.string().nullable() }),
  operator: operatorSchema,
  /** Start of the run, and the same by the service's clock; null if not stated. */
  begun_at: timeSchema,
  begun_at_by_service: timeSchema.nullable(),
  /** Start of the attempt that finalized the run; the members below are of that attempt. */
  started_at: timeSchema,
  /** Time at which nothing was left to collect. */
  finished_at: timeSchema,
  /** Exports that worked on the run, oldest first; `ended_at` is null for an interrupted one. */
  attempts: z.array(z.strictObject({ started_at: timeSchema, ended_at: timeSchema.nullable() })),
  stream_list: streamListSchema,
  streams: z.array(runStreamSchema),
  excluded: z.array(exclusionSchema),
  failed: z.array(streamFailureSchema),
  vanished: z.array(vanishedSchema),
  /** Streams in scope that the service does not list and whose end or restart was accepted. */
  ended: z.array(vanishedSchema),
  /** Every acceptance in the ledger, however old. */
  acceptances: z.array(acceptanceSchema),
  reconciliation: runReconciliationSchema,
  /** Null if no service other than the audit service was configured. */
  supplements: runSupplementsSchema.nullable(),
  warnings: z.array(runWarningSchema),
  /** True if the run has a signed statement (run.dsse.json). */
  signed: z.boolean(),
  /** Authority that was to time-stamp this record (run.tsr), without secrets in its URL; null for none. */
  timestamp_authority: z.string().nullable(),
  report: reportSchema,
  /** Newest runs in the ledger at that time, oldest first. */
  earlier_runs: z.array(earlierRunSchema),
  /**
   * Number of streams received by an interrupted attempt or another process, not by the export that finalized the run.
   */
  recovered: count,
  /** Other objects under the run: records of encrypted bundles, earlier attempts, and objects that are no evidence. */
  left_over: z.array(storedSchema),
  /** Reports made from the rest of this record. */
  documents: z.array(documentSchema),
  binding,
});
/** Lists of a run record that may be too long for memory. */
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
 * `runs/<run-id>/run-draft.json`: run record as known before the reports are made. An export that was interrupted at
 * its end continues from the draft, so that the reports come out the same.
 */
export const runDraftSchema = runRecordSchema.omit({ format: true, streams: true, documents: true }).extend({
  format: z.literal(FORMATS.runDraft),
  /** Records of its streams. */
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
