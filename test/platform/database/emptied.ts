import type { PostgresDatabases } from '../../support/shared-postgres.ts';

/** A PostgreSQL database with all tables, with the data for restoring this state. */
export interface EmptyDatabase {
  url: string;
  /** Fingerprint of the tables' definitions. */
  form: string;
  /** Statements that restore the initial rows. */
  rows: string;
}

type Server = Pick<PostgresDatabases, 'query'>;

const TABLES = `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r'
  AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'platform\\_migrations%'`;

const FORM = `SELECT md5(string_agg(part, ',' ORDER BY part)) AS form FROM (
  SELECT attrelid::regclass::text || attname || atttypid::text || attnotnull::text FROM pg_attribute JOIN pg_class ON oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0
  UNION ALL SELECT tgrelid::regclass::text || tgname || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT conrelid::regclass::text || conname FROM pg_constraint
  UNION ALL SELECT name FROM platform_migrations) AS parts (part)`;

/** Large tables are truncated; truncating every table would take longer than deleting the rows of the others. */
const EMPTY = `DO $$ DECLARE each record; BEGIN
  FOR each IN ${TABLES} LOOP
    IF pg_relation_size(each.name::regclass) > 1000000 THEN EXECUTE 'TRUNCATE ' || each.name || ' CASCADE';
    ELSIF pg_relation_size(each.name::regclass) > 0 THEN EXECUTE 'DELETE FROM ' || each.name; END IF;
  END LOOP;
  PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) FROM pg_sequences WHERE last_value IS NOT NULL;
END $$`;

/** @param url of a database that was just migrated. */
export async function emptyDatabaseAt(server: Server, url: string): Promise<EmptyDatabase> {
  const statements: string[] = [];
  for (const { name } of (await server.query(url, TABLES)).rows) {
    const [{ rows }] = (await server.query(url, `SELECT json_agg(t) AS rows FROM ${name} t`)).rows;
    if (rows === null) continue;
    const text = JSON.stringify(rows).replaceAll("'", "''");
    statements.push(
      `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(null::${name}, '${text}')`,
    );
  }
  return { url, form: await formOf(server, url), rows: statements.join(';') };
}

/**
 * Removes rows added since; copying an empty database takes twenty times as long.
 * @returns true if the database is as before, false if its tables were changed.
 */
export async function emptied(server: Server, { url, form, rows }: EmptyDatabase): Promise<boolean> {
  if ((await formOf(server, url)) !== form) return false;
  // Disable the triggers that refuse to remove rows.
  await server.query(url, `SET session_replication_role = replica; ${EMPTY}; ${rows}`);
  return true;
}

async function formOf(server: Server, url: string): Promise<string> {
  return (await server.query(url, FORM)).rows[0].form;
}
