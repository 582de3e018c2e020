import {
  bytes,
  digest,
  flag,
  integer,
  jsonObject,
  oneOf,
  optional,
  ordinal,
  type TablesOf,
  table,
  text,
} from '../database/table.ts';

/**
 * Times are RFC 3339 UTC with milliseconds. The checks hold for whoever edits the database with another program, too.
 * Entries refer to their stream by a number: a stream id may be longer than what PostgreSQL can index twice.
 */
export const AUDIT_TABLES = {
  verifications: table(
    {
      verification_no: ordinal(),
      verification_id: text('UNIQUE'),
      stream_no: integer(),
      /** Of its stream's checks, from 1 on without gaps; 0 for one that found the row of its stream changed, and is not counted. */
      number: integer(),
      /** 0 or 1. */
      verified: flag(),
      began_at: text(),
      checked_at: text(),
      entries_checked: integer(),
      from_sequence: optional(integer()),
      to_sequence: optional(integer()),
      head_hash: optional(text()),
      /** Up to where nothing is wrong. */
      sound_through: optional(integer()),
      /** JSON of what was found wrong. */
      failures: text(),
      failures_sha256: text(),
      /** Over all above but the numbers of the database; over the failures by their digest. */
      seal: text(),
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
      stream_no: ordinal(),
      stream_id: text('UNIQUE'),
      entry_count: integer(),
      head_sequence: integer(),
      head_hash: text(),
      created_at: text(),
      last_entry_at: text(),
      checkpoint_count: integer(),
      /** How many of its checkpoints are anchored. */
      anchored_count: integer(),
      /** How many of its checks are numbered. */
      verification_count: integer(),
      /** The epoch of the key that seals its next entry. */
      seal_epoch: integer(),
      /** Over all above but the number. */
      head_seal: text(),
      /** Of its checks, the one that began last; null while there was none. */
      verification_no: optional(integer('REFERENCES verifications')),
    },
    { indexes: { streams_by_check: '(verification_no)' } },
  ),
  /** One row. */
  totals: table({
    id: integer('PRIMARY KEY CHECK (id = 1)'),
    streams: integer(),
    /** Streams whose last check found nothing wrong. */
    verified: integer(),
    /** Those whose last check found something. */
    failed: integer(),
    /** Up to where the last checks went: the sum of their last sequence numbers. */
    reached: integer(),
    seal: text(),
  }),
  /** The columns are the only copy of an entry: what is served and what is verified is built from them. */
  entries: table(
    {
      /** In the order in which the entries of all streams were recorded. */
      recorded: ordinal(),
      stream_no: integer('REFERENCES streams'),
      sequence: integer('CHECK (sequence BETWEEN 1 AND 9007199254740991)'),
      entry_id: text(),
      timestamp: text(),
      occurred_at: optional(text()),
      actor: text(),
      action: text(),
      resource_type: text(),
      resource_id: text(),
      /** An object in the form of RFC 8785, so that its text can be hashed as it is. */
      metadata: jsonObject(),
      prev_hash: digest(),
      seal_key_id: text(),
      hash: digest(),
      seal: digest(),
    },
    {
      constraints: ['UNIQUE (stream_no, sequence)'],
      indexes: { entries_by_time: '(stream_no, timestamp, sequence)' },
      appendOnly: [['stream_no', 'sequence'], ['recorded']],
    },
  ),
  /** How many entries a stream got in an hour. */
  entry_hours: table(
    {
      /** As the entries' times begin: `2026-10-01T09`. */
      hour: text(),
      stream_no: integer('REFERENCES streams'),
      entries: integer(),
    },
    { constraints: ['PRIMARY KEY (hour, stream_no)'] },
  ),
  checkpoints: table(
    {
      ordinal: ordinal(),
      checkpoint_id: text('UNIQUE'),
      stream_no: integer('REFERENCES streams'),
      /** Of its stream's checkpoints, from 1 on without gaps. */
      number: integer(),
      sequence: integer(),
      hash: text(),
      created_at: text(),
      status: oneOf(['anchored', 'pending']),
      authority: oneOf(['external', 'development']),
      tsa_url: text(),
      gen_time: optional(text()),
      token: optional(bytes()),
      /** The first of its stream to be anchored has 1, the next 2. */
      anchored_as: optional(integer()),
      seal: text(),
    },
    {
      constraints: ['UNIQUE (stream_no, number)'],
      indexes: { checkpoints_pending: "(authority, ordinal) WHERE status = 'pending'" },
    },
  ),
  packages: table(
    {
      package_id: text('PRIMARY KEY'),
      stream_no: integer('REFERENCES streams'),
      title: text(),
      created_at: text(),
      entry_count: integer(),
      first_sequence: optional(integer()),
      last_sequence: optional(integer()),
      /** How many checkpoints the stream had, and how many were anchored: what came later is not in the package. */
      checkpoints: integer(),
      anchored: integer(),
      /** JSON of the package without its checkpoints and entries. */
      head: text(),
      /** JSON of the summary form. */
      summary: text(),
      /** Over all above. */
      seal: text(),
      /** Digest of the JSON form as it was sent when somebody first downloaded all of it. */
      json_sha256: optional(text()),
      json_seal: optional(text()),
      /** The PDF form once somebody asked for it. */
      pdf: optional(bytes()),
      pdf_seal: optional(text()),
    },
    { indexes: { packages_by_stream: '(stream_no, created_at, package_id)' } },
  ),
};

export type AuditTables = TablesOf<typeof AUDIT_TABLES>;
