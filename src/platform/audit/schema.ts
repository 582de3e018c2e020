import type { Generated } from 'kysely';

/** The tables of the audit service; `migrations.ts` creates them. Times are RFC 3339 UTC with milliseconds. */
export interface AuditTables {
  streams: StreamTable;
  entries: EntryTable;
  entry_hours: EntryHourTable;
  checkpoints: CheckpointTable;
  packages: PackageTable;
  verifications: VerificationTable;
  totals: TotalsTable;
}

// Over ten members: it is a row of the table of streams.
interface StreamTable {
  stream_no: Generated<number>;
  stream_id: string;
  entry_count: number;
  head_sequence: number;
  head_hash: string;
  created_at: string;
  last_entry_at: string;
  checkpoint_count: number;
  /** How many of its checkpoints are anchored. */
  anchored_count: number;
  /** How many of its checks are numbered. */
  verification_count: number;
  /** The epoch of the key that seals its next entry. */
  seal_epoch: number;
  /** Over all above but the number. */
  head_seal: string;
  /** Of its checks, the one that began last; null while there was none. */
  verification_no: number | null;
}

/** The columns are the only copy of an entry: what is served and what is verified is built from them. */
// Over ten members: it is a row of the table of entries.
interface EntryTable {
  /** In the order in which the entries of all streams were recorded. */
  recorded: Generated<number>;
  stream_no: number;
  sequence: number;
  entry_id: string;
  timestamp: string;
  occurred_at: string | null;
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  /** An object in the form of RFC 8785, so that its text can be hashed as it is. */
  metadata: string;
  prev_hash: string;
  seal_key_id: string;
  hash: string;
  seal: string;
}

/** How many entries a stream got in an hour. */
interface EntryHourTable {
  /** As the entries' times begin: `2026-10-01T09`. */
  hour: string;
  stream_no: number;
  entries: number;
}

// Over ten members: it is a row of the table of checkpoints.
interface CheckpointTable {
  ordinal: Generated<number>;
  checkpoint_id: string;
  stream_no: number;
  /** Of its stream's checkpoints, from 1 on without gaps. */
  number: number;
  sequence: number;
  hash: string;
  created_at: string;
  status: 'anchored' | 'pending';
  authority: 'external' | 'development';
  tsa_url: string;
  gen_time: string | null;
  token: Uint8Array | null;
  /** The first of its stream to be anchored has 1, the next 2. */
  anchored_as: number | null;
  seal: string;
}

// Over ten members: it is a row of the table of packages.
interface PackageTable {
  package_id: string;
  stream_no: number;
  title: string;
  created_at: string;
  entry_count: number;
  first_sequence: number | null;
  last_sequence: number | null;
  /** How many checkpoints the stream had, and how many were anchored: what came later is not in the package. */
  checkpoints: number;
  anchored: number;
  /** JSON of the package without its checkpoints and entries. */
  head: string;
  /** JSON of the summary form. */
  summary: string;
  /** Over all above. */
  seal: string;
  /** Digest of the JSON form as it was sent when somebody first downloaded all of it. */
  json_sha256: string | null;
  json_seal: string | null;
  /** The PDF form once somebody asked for it. */
  pdf: Uint8Array | null;
  pdf_seal: string | null;
}

// Over ten members: it is a row of the table of checks.
interface VerificationTable {
  verification_no: Generated<number>;
  verification_id: string;
  stream_no: number;
  /** Of its stream's checks, from 1 on without gaps; 0 for one that found the row of its stream changed, and is not counted. */
  number: number;
  /** 0 or 1. */
  verified: number;
  began_at: string;
  checked_at: string;
  entries_checked: number;
  from_sequence: number | null;
  to_sequence: number | null;
  head_hash: string | null;
  /** Up to where nothing is wrong. */
  sound_through: number | null;
  /** JSON of what was found wrong. */
  failures: string;
  failures_sha256: string;
  /** Over all above but the numbers of the database; over the failures by their digest. */
  seal: string;
}

/** One row. */
interface TotalsTable {
  id: number;
  streams: number;
  /** Streams whose last check found nothing wrong. */
  verified: number;
  /** Those whose last check found something. */
  failed: number;
  /** Up to where the last checks went: the sum of their last sequence numbers. */
  reached: number;
  seal: string;
}
