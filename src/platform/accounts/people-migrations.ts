import type { Migrations } from '../database/migration.ts';

export const PEOPLE_MIGRATIONS: Migrations = {
  'accounts/0002-people': ({ text, integer, bytes, end }) => [
    `CREATE TABLE people (
      person_id ${text} PRIMARY KEY,
      email ${text} NOT NULL UNIQUE,
      name ${text} NOT NULL,
      role ${text} NOT NULL CHECK (role IN ('owner', 'operator', 'auditor')),
      password ${text} NOT NULL,
      totp_secret ${bytes},
      totp_step ${integer} NOT NULL,
      created_at ${text} NOT NULL,
      disabled_at ${text}
    ) ${end}`,
    `CREATE TABLE links (
      link_id ${text} PRIMARY KEY,
      sha256 ${text} NOT NULL UNIQUE,
      purpose ${text} NOT NULL CHECK (purpose IN ('set_up', 'confirm', 'invite', 'reset')),
      content ${text} NOT NULL,
      expires_at ${text} NOT NULL,
      used_at ${text}
    ) ${end}`,
    `CREATE TABLE sessions (
      sha256 ${text} PRIMARY KEY,
      person_id ${text} NOT NULL REFERENCES people,
      csrf ${text} NOT NULL,
      created_at ${text} NOT NULL,
      seen_at ${text} NOT NULL,
      proved_at ${text}
    ) ${end}`,
    'CREATE INDEX sessions_by_person ON sessions (person_id)',
    `CREATE TABLE failed_attempts (
      subject ${text} PRIMARY KEY,
      failures ${integer} NOT NULL,
      last_at ${text} NOT NULL
    ) ${end}`,
  ],
  'accounts/0003-passkeys': ({ text, integer, bytes, end }) => [
    `CREATE TABLE passkeys (
      passkey_id ${text} PRIMARY KEY,
      person_id ${text} NOT NULL REFERENCES people,
      credential_id ${text} NOT NULL UNIQUE,
      name ${text} NOT NULL,
      public_key ${bytes} NOT NULL,
      counter ${integer} NOT NULL,
      transports ${text} NOT NULL,
      created_at ${text} NOT NULL,
      last_used_at ${text}
    ) ${end}`,
    'CREATE INDEX passkeys_by_person ON passkeys (person_id)',
    `CREATE TABLE spent_challenges (sha256 ${text} PRIMARY KEY, until ${text} NOT NULL) ${end}`,
  ],
  // Everybody signs in anew.
  'accounts/0004-own-sessions': ({ text, end }) => [
    'DROP TABLE sessions',
    `CREATE TABLE sessions (
      sha256 ${text} PRIMARY KEY,
      session_id ${text} NOT NULL UNIQUE,
      person_id ${text} NOT NULL REFERENCES people,
      csrf ${text} NOT NULL,
      created_at ${text} NOT NULL,
      seen_at ${text} NOT NULL,
      proved_at ${text},
      network ${text},
      browser ${text}
    ) ${end}`,
    'CREATE INDEX sessions_by_person ON sessions (person_id)',
  ],
  'accounts/0005-invitations': ({ text }) => [`ALTER TABLE links ADD COLUMN made_by ${text}`],
};
