import type { Migrations } from '../database/migration.ts';

/**
 * The checks hold what every reader of the columns relies on, also for somebody who edits the database with another
 * program. Entries refer to their stream by a number: an id may be longer than what PostgreSQL can index twice.
 */
export const AUDIT_MIGRATIONS: Migrations = {
  // Over 40 lines: it is one form of all tables.
  'audit/0001-chain': ({ text, integer, bytes, ordinal, end, digest, isObject, appendOnly }) => [
    `CREATE TABLE verifications (
      verification_no ${ordinal},
      verification_id ${text} NOT NULL UNIQUE,
      stream_no ${integer} NOT NULL,
      number ${integer} NOT NULL,
      verified ${integer} NOT NULL CHECK (verified IN (0, 1)),
      began_at ${text} NOT NULL,
      checked_at ${text} NOT NULL,
      entries_checked ${integer} NOT NULL,
      from_sequence ${integer},
      to_sequence ${integer},
      head_hash ${text},
      sound_through ${integer},
      failures ${text} NOT NULL,
      failures_sha256 ${text} NOT NULL,
      seal ${text} NOT NULL
    ) ${end}`,
    'CREATE INDEX verifications_by_stream ON verifications (stream_no, verification_no)',
    'CREATE INDEX verifications_by_number ON verifications (stream_no, number, verification_no)',
    `CREATE TABLE streams (
      stream_no ${ordinal},
      stream_id ${text} NOT NULL UNIQUE,
      entry_count ${integer} NOT NULL,
      head_sequence ${integer} NOT NULL,
      head_hash ${text} NOT NULL,
      created_at ${text} NOT NULL,
      last_entry_at ${text} NOT NULL,
      checkpoint_count ${integer} NOT NULL,
      anchored_count ${integer} NOT NULL,
      verification_count ${integer} NOT NULL,
      seal_epoch ${integer} NOT NULL,
      head_seal ${text} NOT NULL,
      verification_no ${integer} REFERENCES verifications
    ) ${end}`,
    'CREATE INDEX streams_by_check ON streams (verification_no)',
    `CREATE TABLE totals (
      id ${integer} PRIMARY KEY CHECK (id = 1),
      streams ${integer} NOT NULL,
      verified ${integer} NOT NULL,
      failed ${integer} NOT NULL,
      reached ${integer} NOT NULL,
      seal ${text} NOT NULL
    ) ${end}`,
    `CREATE TABLE entries (
      recorded ${ordinal},
      stream_no ${integer} NOT NULL REFERENCES streams,
      sequence ${integer} NOT NULL CHECK (sequence BETWEEN 1 AND 9007199254740991),
      entry_id ${text} NOT NULL,
      timestamp ${text} NOT NULL,
      occurred_at ${text},
      actor ${text} NOT NULL,
      action ${text} NOT NULL,
      resource_type ${text} NOT NULL,
      resource_id ${text} NOT NULL,
      metadata ${text} NOT NULL CHECK (${isObject('metadata')}),
      ${digest('prev_hash')} NOT NULL,
      seal_key_id ${text} NOT NULL,
      ${digest('hash')} NOT NULL,
      ${digest('seal')} NOT NULL,
      UNIQUE (stream_no, sequence)
    ) ${end}`,
    'CREATE INDEX entries_by_time ON entries (stream_no, timestamp, sequence)',
    ...appendOnly('entries', [['stream_no', 'sequence'], ['recorded']]),
    `CREATE TABLE entry_hours (
      hour ${text} NOT NULL,
      stream_no ${integer} NOT NULL REFERENCES streams,
      entries ${integer} NOT NULL,
      PRIMARY KEY (hour, stream_no)
    ) ${end}`,
    `CREATE TABLE checkpoints (
      ordinal ${ordinal},
      checkpoint_id ${text} NOT NULL UNIQUE,
      stream_no ${integer} NOT NULL REFERENCES streams,
      number ${integer} NOT NULL,
      sequence ${integer} NOT NULL,
      hash ${text} NOT NULL,
      created_at ${text} NOT NULL,
      status ${text} NOT NULL CHECK (status IN ('anchored', 'pending')),
      authority ${text} NOT NULL CHECK (authority IN ('external', 'development')),
      tsa_url ${text} NOT NULL,
      gen_time ${text},
      token ${bytes},
      anchored_as ${integer},
      seal ${text} NOT NULL,
      UNIQUE (stream_no, number)
    ) ${end}`,
    "CREATE INDEX checkpoints_pending ON checkpoints (authority, ordinal) WHERE status = 'pending'",
    `CREATE TABLE packages (
      package_id ${text} PRIMARY KEY,
      stream_no ${integer} NOT NULL REFERENCES streams,
      title ${text} NOT NULL,
      created_at ${text} NOT NULL,
      entry_count ${integer} NOT NULL,
      first_sequence ${integer},
      last_sequence ${integer},
      checkpoints ${integer} NOT NULL,
      anchored ${integer} NOT NULL,
      head ${text} NOT NULL,
      summary ${text} NOT NULL,
      seal ${text} NOT NULL,
      json_sha256 ${text},
      json_seal ${text},
      pdf ${bytes},
      pdf_seal ${text}
    ) ${end}`,
    'CREATE INDEX packages_by_stream ON packages (stream_no, created_at, package_id)',
    'CREATE INDEX verifications_failed ON verifications (verification_no) WHERE verified = 0',
  ],
};
