import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { EvidenceError } from '../../core/errors.ts';
import type { Tables } from './schema.ts';

/**
 * Brings the tables to the present form; does nothing when they have it.
 * @throws EvidenceError `unreadable` when the database was written by a newer version or cannot be changed.
 */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  throw new EvidenceError('unreadable', 'the database could not be brought to the form that this version needs', {
    cause: error,
    nextStep: 'Start the version that wrote it last, or restore it from a backup.',
  });
}

const DIGEST = "NOT NULL CHECK (length(%) = 64 AND % NOT GLOB '*[^0-9a-f]*')";

function digest(column: string): string {
  return `${column} TEXT ${DIGEST.replaceAll('%', column)}`;
}

/**
 * Released steps are never edited: what a database ran once is what it has. The checks hold what every reader of the
 * columns relies on, also for somebody who edits the file with another program.
 */
const MIGRATIONS: Record<string, Migration> = {
  '0001-audit': steps([
    `CREATE TABLE streams (
      stream_id TEXT PRIMARY KEY,
      entry_count INTEGER NOT NULL,
      head_sequence INTEGER NOT NULL,
      head_hash TEXT,
      created_at TEXT NOT NULL,
      last_entry_at TEXT,
      verified INTEGER NOT NULL DEFAULT 0,
      verification_status TEXT NOT NULL DEFAULT 'unverified'
        CHECK (verification_status IN ('unverified', 'verified', 'failed')),
      last_checked_at TEXT,
      verified_through_sequence INTEGER
    ) STRICT`,
    `CREATE TABLE entries (
      entry_id TEXT NOT NULL,
      stream_id TEXT NOT NULL REFERENCES streams,
      sequence INTEGER NOT NULL CHECK (sequence BETWEEN 1 AND 9007199254740991),
      timestamp TEXT NOT NULL,
      occurred_at TEXT,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,
      resource_type TEXT NOT NULL,
      resource_id TEXT NOT NULL,
      metadata TEXT NOT NULL CHECK (json_valid(metadata) AND json_type(metadata) = 'object'),
      ${digest('prev_hash')},
      seal_key_id TEXT NOT NULL,
      ${digest('hash')},
      ${digest('seal')},
      UNIQUE (stream_id, sequence)
    ) STRICT`,
    'CREATE INDEX entries_by_time ON entries (stream_id, timestamp, sequence)',
    `CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
      BEGIN SELECT RAISE(ABORT, 'audit entries are never changed'); END`,
    `CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
      BEGIN SELECT RAISE(ABORT, 'audit entries are never deleted'); END`,
    `CREATE TABLE idempotency (
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      body_sha256 TEXT NOT NULL,
      result TEXT NOT NULL,
      created_at TEXT NOT NULL,
      PRIMARY KEY (scope, key)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE checkpoints (
      ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
      checkpoint_id TEXT NOT NULL UNIQUE,
      stream_id TEXT NOT NULL REFERENCES streams,
      sequence INTEGER NOT NULL,
      hash TEXT NOT NULL,
      created_at TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('anchored', 'pending')),
      authority TEXT NOT NULL CHECK (authority IN ('external', 'development')),
      tsa_url TEXT NOT NULL,
      gen_time TEXT,
      token BLOB
    ) STRICT`,
    'CREATE INDEX checkpoints_by_stream ON checkpoints (stream_id, ordinal)',
    "CREATE INDEX checkpoints_pending ON checkpoints (authority, ordinal) WHERE status = 'pending'",
    `CREATE TABLE packages (
      package_id TEXT PRIMARY KEY,
      stream_id TEXT NOT NULL REFERENCES streams,
      title TEXT NOT NULL,
      created_at TEXT NOT NULL,
      entry_count INTEGER NOT NULL,
      first_sequence INTEGER,
      last_sequence INTEGER,
      head TEXT NOT NULL,
      summary TEXT NOT NULL,
      pdf BLOB
    ) STRICT`,
    `CREATE TABLE api_keys (
      key_id TEXT PRIMARY KEY,
      sha256 TEXT NOT NULL,
      name TEXT NOT NULL,
      created_at TEXT NOT NULL,
      revoked_at TEXT
    ) STRICT`,
  ]),
};

function steps(statements: readonly string[]): Migration {
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
