import { column, type TablesOf, table } from '../database/table.ts';

/**
 * Times are RFC 3339 UTC with milliseconds. The checks hold for whoever edits the database with another program, too.
 * Entries refer to their stream by a number: a stream id may be longer than what PostgreSQL can index twice.
 */
export const AUDIT_TABLES = {
  verifications: table(
    {
      verification_no: column.ordinal(),
      verification_id: column.text('UNIQUE'),
      stream_no: column.integer(),
      /** Its number among the checks of its stream, from 1 on without gaps; 0 for one that found the row of its stream changed, and is not counted. */
      number: column.integer(),
      /** 0 or 1. */
      verified: column.flag(),
      began_at: column.text(),
      checked_at: column.text(),
      entries_checked: column.integer(),
      from_sequence: column.optional(column.integer()),
      to_sequence: column.optional(column.integer()),
      head_hash: column.optional(column.text()),
      /** Up to where nothing is wrong. */
      sound_through: column.optional(column.integer()),
      /** JSON of what was found wrong. */
      failures: column.text(),
      failures_sha256: column.text(),
      /** Over all above but the numbers of the database; over the failures by their digest. */
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
      entry_count: column.integer(),
      head_sequence: column.integer(),
      head_hash: column.text(),
      created_at: column.text(),
      last_entry_at: column.text(),
      checkpoint_count: column.integer(),
      /** The number of its checkpoints that are anchored. */
      anchored_count: column.integer(),
      /** The number of its checks that have a number. */
      verification_count: column.integer(),
      /** The epoch of the key that seals its next entry. */
      seal_epoch: column.integer(),
      /** Over all above but the number. */
      head_seal: column.text(),
      /** The check that began last; null while there was none. */
      verification_no: column.optional(column.integer('REFERENCES verifications')),
    },
    { indexes: { streams_by_check: '(verification_no)' } },
  ),
  /** One row. */
  totals: table({
    id: column.integer('PRIMARY KEY CHECK (id = 1)'),
    streams: column.integer(),
    /** Streams whose last check found nothing wrong. */
    verified: column.integer(),
    /** Those whose last check found something. */
    failed: column.integer(),
    /** Up to where the last checks went: the sum of their last sequence numbers. */
    reached: column.integer(),
    seal: column.text(),
  }),
  /** The columns are the only copy of an entry: what is served and what is verified is built from them. */
  entries: table(
    {
      /** In the order in which the entries of all streams were recorded. */
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
      /** An object in the form of RFC 8785, so that its text can be hashed as it is. */
      metadata: column.jsonObject(),
      prev_hash: column.digest(),
      seal_key_id: column.text(),
      hash: column.digest(),
      seal: column.digest(),
    },
    {
      constraints: ['UNIQUE (stream_no, sequence)'],
      indexes: { entries_by_time: '(stream_no, timestamp, sequence)' },
      appendOnly: [['stream_no', 'sequence'], ['recorded']],
    },
  ),
  /** The number of entries that a stream got in an hour. */
  entry_hours: table(
    {
      /** As the entries' times begin: `2026-10-01T09`. */
      hour: column.text(),
      stream_no: column.integer('REFERENCES streams'),
      entries: column.integer(),
    },
    { constraints: ['PRIMARY KEY (hour, stream_no)'] },
  ),
  checkpoints: table(
    {
      ordinal: column.ordinal(),
      checkpoint_id: column.text('UNIQUE'),
      stream_no: column.integer('REFERENCES streams'),
      /** Its number among the checkpoints of its stream, from 1 on without gaps. */
      number: column.integer(),
      sequence: column.integer(),
      hash: column.text(),
      created_at: column.text(),
      status: column.oneOf(['anchored', 'pending']),
      authority: column.oneOf(['external', 'development']),
      tsa_url: column.text(),
      gen_time: column.optional(column.text()),
      token: column.optional(column.bytes()),
      /** The first of its stream to be anchored has 1, the next 2. */
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
      title: column.text(),
      created_at: column.text(),
      entry_count: column.integer(),
      first_sequence: column.optional(column.integer()),
      last_sequence: column.optional(column.integer()),
      /** The checkpoints that the stream had, and those that were anchored: later ones are not in the package. */
      checkpoints: column.integer(),
      anchored: column.integer(),
      /** JSON of the package without its checkpoints and entries. */
      head: column.text(),
      /** JSON of the summary form. */
      summary: column.text(),
      /** Over all above. */
      seal: column.text(),
      /** Digest of the JSON form as it was sent when somebody first downloaded all of it. */
      json_sha256: column.optional(column.text()),
      json_seal: column.optional(column.text()),
      /** The PDF form once somebody asked for it. */
      pdf: column.optional(column.bytes()),
      pdf_seal: column.optional(column.text()),
    },
    { indexes: { packages_by_stream: '(stream_no, created_at, package_id)' } },
  ),
};

export type AuditTables = TablesOf<typeof AUDIT_TABLES>;
