import type { Generated } from 'kysely';

/** The tables as they are stored; `migrations.ts` creates them. Times are RFC 3339 UTC with milliseconds. */
export interface Tables {
  streams: StreamRow;
  entries: EntryRow;
  idempotency: IdempotencyRow;
  checkpoints: CheckpointTable;
  packages: PackageRow;
  api_keys: ApiKeyRow;
}

export interface StreamRow {
  stream_id: string;
  entry_count: number;
  head_sequence: number;
  head_hash: string | null;
  created_at: string;
  last_entry_at: string | null;
  /** 0 or 1. */
  verified: number;
  verification_status: 'unverified' | 'verified' | 'failed';
  last_checked_at: string | null;
  verified_through_sequence: number | null;
}

/** The columns are the only copy of an entry: what is served and what is verified is built from them. */
// Over ten members: it is a row of the table of entries.
export interface EntryRow {
  entry_id: string;
  stream_id: string;
  sequence: number;
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

export interface IdempotencyRow {
  scope: string;
  key: string;
  body_sha256: string;
  result: string;
  created_at: string;
}

// Over ten members: it is a row of the table of checkpoints.
interface CheckpointTable {
  ordinal: Generated<number>;
  checkpoint_id: string;
  stream_id: string;
  sequence: number;
  hash: string;
  created_at: string;
  status: 'anchored' | 'pending';
  authority: 'external' | 'development';
  tsa_url: string;
  gen_time: string | null;
  token: Uint8Array | null;
}

export interface PackageRow {
  package_id: string;
  stream_id: string;
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

export interface ApiKeyRow {
  key_id: string;
  sha256: string;
  name: string;
  created_at: string;
  revoked_at: string | null;
}
