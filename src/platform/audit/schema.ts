import type { Generated } from 'kysely';

/** The tables of the audit service; `migrations.ts` creates them. Times are RFC 3339 UTC with milliseconds. */
export interface AuditTables {
  streams: StreamTable;
  entries: EntryTable;
  checkpoints: CheckpointTable;
  packages: PackageTable;
  verifications: VerificationTable;
}

interface StreamTable {
  stream_no: Generated<number>;
  stream_id: string;
  entry_count: number;
  head_sequence: number;
  head_hash: string | null;
  created_at: string;
  last_entry_at: string | null;
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

// Over ten members: it is a row of the table of checkpoints.
interface CheckpointTable {
  ordinal: Generated<number>;
  checkpoint_id: string;
  stream_no: number;
  sequence: number;
  hash: string;
  created_at: string;
  status: 'anchored' | 'pending';
  authority: 'external' | 'development';
  tsa_url: string;
  gen_time: string | null;
  token: Uint8Array | null;
}

interface PackageTable {
  package_id: string;
  stream_no: number;
  title: string;
  created_at: string;
  entry_count: number;
  first_sequence: number | null;
  last_sequence: number | null;
  /** JSON of the package without its entries. */
  head: string;
  /** JSON of the summary form. */
  summary: string;
  /** The PDF form once somebody asked for it. */
  pdf: Uint8Array | null;
}

// Over ten members: it is a row of the table of checks.
interface VerificationTable {
  verification_no: Generated<number>;
  verification_id: string;
  stream_no: number;
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
}
