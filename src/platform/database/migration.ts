import { sql } from 'kysely';
import { type Migration as KyselyMigration, Migrator } from 'kysely/migration';
import { EvidenceError } from '../../core/errors.ts';
import type { Database, Reader } from './database.ts';

/**
 * Migration step of a module's tables, as statements. Released steps are never edited, because databases have already
 * run them.
 */
export type Migration = (words: TableWords) => readonly string[];

/** Migrations by name. They run in the order of their names, across modules. */
export type Migrations = Readonly<Record<string, Migration>>;

/** Differences between the SQL dialects in tables. */
export interface TableWords {
  /** Type of text that is compared byte by byte, whatever the locale. */
  text: string;
  /** Type of 64-bit integers. */
  integer: string;
  bytes: string;
  /** Type of a primary key that the database assigns in ascending order. */
  ordinal: string;
  /** Text after the columns. */
  end: string;
  /** Returns the definition of a column of lower-case hex SHA-256. */
  digest(column: string): string;
  /** Returns a condition that a text is a JSON object. */
  isObject(column: string): string;
  /**
   * Returns statements that prevent changes and deletions in a table, also by other programs, while its triggers exist.
   * @param keys the columns of each of its unique keys.
   */
  appendOnly(table: string, keys: readonly (readonly string[])[]): readonly string[];
  /** Table for `Postings`: its kind, its definition, and the definition of its index. */
  postings: { kind: string; definition: string; index: string | null };
}

/**
 * Brings the tables up to date, all or none; does nothing if they are.
 * @throws EvidenceError `unreadable` if the database was written by a newer version or cannot be changed.
 */
export async function migrate(database: Database, migrations: Migrations): Promise<void> {
  const words = database.dialect === 'sqlite' ? SQLITE : POSTGRES;
  const provider = { getMigrations: async () => toKysely(migrations, words) };
  const migrator = new Migrator({
    db: database.forMigrations,
    provider,
    migrationTableName: 'platform_migrations',
    migrationLockTableName: 'platform_migrations_lock',
    // The steps of a new module may have names before those of another module's.
    allowUnorderedMigrations: true,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  throw new EvidenceError('unreadable', 'the database could not be migrated to this version', {
    cause: error,
    nextStep: 'Start the version that last wrote the database, or restore it from a backup.',
  });
}

/** Reports whether a database has run exactly these migrations. */
export async function hasForm(reader: Reader, migrations: Migrations): Promise<boolean> {
  const made = reader.tables<{ platform_migrations: { name: string } }>().selectFrom('platform_migrations');
  const names = (await made.select('name').execute()).map(({ name }) => name);
  return names.sort().join() === Object.keys(migrations).sort().join();
}

function toKysely(migrations: Migrations, words: TableWords): Record<string, KyselyMigration> {
  const steps = Object.entries(migrations).map(([name, statements]): [string, KyselyMigration] => [
    name,
    {
      async up(db) {
        for (const statement of statements(words)) await sql.raw(statement).execute(db);
      },
    },
  ]);
  return Object.fromEntries(steps);
}

const NEVER_CHANGED = (table: string) => `rows of ${table} are never changed`;

const SQLITE: TableWords = {
  text: 'TEXT',
  integer: 'INTEGER',
  bytes: 'BLOB',
  ordinal: 'INTEGER PRIMARY KEY',
  end: 'STRICT',
  digest: (column) => `${column} TEXT CHECK (length(${column}) = 64 AND ${column} NOT GLOB '*[^0-9a-f]*')`,
  isObject: (column) => `json_valid(${column}) AND json_type(${column}) = 'object'`,
  appendOnly: (table, keys) => [
    ...['UPDATE', 'DELETE'].map(
      (change) => `CREATE TRIGGER ${table}_no_${change.toLowerCase()} BEFORE ${change} ON ${table}
        BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED(table)}'); END`,
    ),
    // INSERT OR REPLACE deletes the conflicting row without firing a trigger.
    `CREATE TRIGGER ${table}_no_replace BEFORE INSERT ON ${table}
      WHEN ${keys.map((columns) => `EXISTS (SELECT 1 FROM ${table} WHERE ${columns.map((column) => `${column} = NEW.${column}`).join(' AND ')})`).join(' OR ')}
      BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED(table)}'); END`,
  ],
  postings: {
    kind: 'VIRTUAL TABLE',
    definition: "USING fts5(terms, content = '', columnsize = 0, detail = none, tokenize = ascii)",
    index: null,
  },
};

const POSTGRES: TableWords = {
  text: 'text COLLATE "C"',
  integer: 'bigint',
  bytes: 'bytea',
  ordinal: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  end: '',
  digest: (column) => `${column} text COLLATE "C" CHECK (${column} ~ '^[0-9a-f]{64}$')`,
  isObject: (column) => `json_typeof(${column}::json) = 'object'`,
  appendOnly: (table) => [
    `CREATE FUNCTION ${table}_never_changed() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION '${NEVER_CHANGED(table)}'; END $$`,
    `CREATE TRIGGER ${table}_never_changed BEFORE UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION ${table}_never_changed()`,
    `CREATE TRIGGER ${table}_never_emptied BEFORE TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION ${table}_never_changed()`,
  ],
  postings: {
    kind: 'TABLE',
    // Terms are stored apart, so that the table of blocks is small.
    definition: '(block bigint PRIMARY KEY, terms bigint[] NOT NULL) WITH (toast_tuple_target = 128)',
    index: 'USING gin (terms) WITH (fastupdate = off)',
  },
};
