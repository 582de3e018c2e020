import { column, type TablesOf, table } from '../database/table.ts';

/**
 * Times are RFC 3339 UTC with milliseconds. The constraints also apply to edits of the database by other programs.
 * Entries refer to their stream by a number, because a stream id may be too long for PostgreSQL to index twice.
 */
export const AUDIT_TABLES = {
  verifications: table(
    {
      verification_no: column.ordinal(),
      verification_id: column.text('UNIQUE'),
      stream_no: column.integer(),
      /**
       * Number among the checks of the stream, from 1 without gaps; 0 for a check that found the stream's row changed,
       * which is not counted.
       */
      number: column.integer(),
      /** Flag: 0 or 1. */
      verified: column.flag(),
      began_at: column.text(),
      checked_at: column.text(),
      entries_checked: column.integer(),
      from_sequence: column.optional(column.integer()),
      to_sequence: column.optional(column.integer()),
      head_hash: column.optional(column.text()),
      /** Last sequence number up to which nothing is wrong. */
      sound_through: column.optional(column.integer()),
      /** Number of entries that state that the clock went back. */
      clock_corrections: column.integer(),
      /** JSON of the failures found. */
      failures: column.text(),
      failures_sha256: column.text(),
      /** Seal over all columns above except the database's numbers; covers the failures by their digest. */
      seal: column.text(),
    },
    {
      indexes: {
        verifications_by_stream: '(stream_no, verification_no)',
        verifications_by_number: '(stream_no, number, verification_no)',
        verifications_failed: '(verification_no) WHERE verified = 0',
      },
    },
  ),
  streams: table(
    {
      stream_no: column.ordinal(),
      stream_id: column.text('UNIQUE'),
      /** SHA-256 of `plainId`: of streams whose ids look alike, there is only one. */
      likeness: column.text('UNIQUE'),
      entry_count: column.integer(),
      head_sequence: column.integer(),
      head_hash: column.text(),
      created_at: column.text(),
      last_entry_at: column.text(),
      checkpoint_count: column.integer(),
      /** Number of anchored checkpoints. */
      anchored_count: column.integer(),
      /** Number of checks that have a number. */
      verification_count: column.integer(),
      /** Number of packages that have a number. */
      package_count: column.integer(),
      /** Epoch of the key that seals the next entry. */
      seal_epoch: column.integer(),
      /** Seal over all columns above except the number and the likeness. */
      head_seal: column.text(),
      /** Check that started last; null if there was none. */
      verification_no: column.optional(column.integer('REFERENCES verifications')),
    },
    { indexes: { streams_by_check: '(verification_no)' } },
  ),
  /** Totals over all streams, in one row. */
  totals: table({
    id: column.integer('PRIMARY KEY CHECK (id = 1)'),
    streams: column.integer(),
    /** Streams whose last check found nothing wrong. */
    verified: column.integer(),
    /** Streams whose last check found something wrong. */
    failed: column.integer(),
    /** Sum of the last sequence numbers that the last checks reached. */
    reached: column.integer(),
    seal: column.text(),
  }),
  /** Lanes of the sum over all heads: see `addToHeadSum`. */
  head_sums: table({
    lane: column.integer('PRIMARY KEY'),
    /** Number of transactions that changed this lane. */
    changes: column.integer(),
    nonce: column.text(),
    /** Sum modulo 2^256 with the mask for the nonce, in hex. */
    sum: column.digest(),
    /** JSON list of the other lanes and their numbers of changes, when this lane was changed last. */
    seen: column.text(),
    seal: column.text(),
  }),
  /** Columns of entries, the only copy: answers and checks are built from them. */
  entries: table(
    {
      /** Number in the order in which the entries of all streams were recorded. */
      recorded: column.ordinal(),
      stream_no: column.integer('REFERENCES streams'),
      sequence: column.integer('CHECK (sequence BETWEEN 1 AND 9007199254740991)'),
      entry_id: column.text(),
      timestamp: column.text(),
      occurred_at: column.optional(column.text()),
      actor: column.text(),
      action: column.text(),
      resource_type: column.text(),
      resource_id: column.text(),
      /** Authenticated caller that sent the entry: `key:ID`; `platform` for the platform's own entries. */
      recorded_by: column.text(),
      /** Object as RFC 8785 text, so that it can be hashed as it is. */
      metadata: column.jsonObject(),
      prev_hash: column.digest(),
      seal_key_id: column.text(),
      hash: column.digest(),
      seal: column.digest(),
    },
    {
      constraints: ['UNIQUE (stream_no, sequence)'],
      indexes: {
        entries_by_time: '(stream_no, timestamp, sequence)',
        entries_correcting: "(stream_no) WHERE action = 'clock.corrected' AND resource_type = 'clock'",
      },
      appendOnly: [['stream_no', 'sequence'], ['recorded']],
    },
  ),
  /**
   * Zones of entries with successive numbers `recorded`, written shortly after the entries, for lists over all streams.
   * Rows that were changed here hide entries from these lists, and from nothing else: see `checkIndex`.
   */
  entry_zones: table(
    {
      zone: column.integer('PRIMARY KEY'),
      /** Earliest and latest time of an entry in the zone. */
      first_at: column.text(),
      last_at: column.text(),
    },
    { postings: 'entry_terms' },
  ),
  /** Number of entries that a stream got in an hour. */
  entry_hours: table(
    {
      stream_no: column.integer('REFERENCES streams'),
      /** Prefix of the entries' times: `2026-10-01T09`. */
      hour: column.text(),
      entries: column.integer(),
    },
    { constraints: ['PRIMARY KEY (stream_no, hour)'] },
  ),
  /** Number of entries that all streams got in an hour, in parts: one for each lane of the sum over all heads. */
  hour_totals: table(
    {
      hour: column.text(),
      lane: column.integer(),
      entries: column.integer(),
    },
    { constraints: ['PRIMARY KEY (hour, lane)'] },
  ),
  checkpoints: table(
    {
      ordinal: column.ordinal(),
      checkpoint_id: column.text('UNIQUE'),
      stream_no: column.integer('REFERENCES streams'),
      /** Number among the checkpoints of the stream, from 1 without gaps. */
      number: column.integer(),
      sequence: column.integer(),
      hash: column.text(),
      created_at: column.text(),
      status: column.oneOf(['anchored', 'pending']),
      authority: column.oneOf(['external', 'development']),
      tsa_url: column.text(),
      gen_time: column.optional(column.text()),
      token: column.optional(column.bytes()),
      /** Number among the anchored checkpoints of the stream, from 1. */
      anchored_as: column.optional(column.integer()),
      seal: column.text(),
    },
    {
      constraints: ['UNIQUE (stream_no, number)'],
      indexes: { checkpoints_pending: "(authority, ordinal) WHERE status = 'pending'" },
    },
  ),
  packages: table(
    {
      package_id: column.text('PRIMARY KEY'),
      stream_no: column.integer('REFERENCES streams'),
      /**
       * Number among the packages of the stream, from 1 without gaps; 0 for a package generated after the stream's row
       * was changed, which is not counted.
       */
      number: column.integer(),
      title: column.text(),
      created_at: column.text(),
      entry_count: column.integer(),
      first_sequence: column.optional(column.integer()),
      last_sequence: column.optional(column.integer()),
      /**
       * Numbers of the stream's checkpoints and anchored checkpoints at generation; later ones are not in the package.
       */
      checkpoints: column.integer(),
      anchored: column.integer(),
      /** JSON of the package without its checkpoints and entries. */
      head: column.text(),
      /** JSON of the summary form. */
      summary: column.text(),
      /** Seal over all columns above. */
      seal: column.text(),
      /** Digest of the JSON form as sent in the first complete download. */
      json_sha256: column.optional(column.text()),
      json_seal: column.optional(column.text()),
      /** PDF form, stored after the first request for it. */
      pdf: column.optional(column.bytes()),
      pdf_seal: column.optional(column.text()),
    },
    {
      indexes: {
        packages_by_stream: '(stream_no, created_at, package_id)',
        packages_by_number: '(stream_no, number, package_id)',
      },
    },
  ),
};

export type AuditTables = TablesOf<typeof AUDIT_TABLES>;
